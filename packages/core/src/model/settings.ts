/** The settings of a queue. Each has a default, and a change is an event (TQM-CFG). */
import * as t from 'io-ts'
import { listOf, recordOf } from './list.js'
import { Deduplicate, Phase, PriorityName } from './task.js'
import { between, integer, Name, PositiveSeconds, Priority, Seconds, TaskType } from './scalars.js'

const CountOn = t.keyof({ 'dead-letter': null, attempt: null }, 'countOn')

const breaker = {
  /** Number of failures in a row that opens the breaker. */
  failureThreshold: integer(1, 1_000_000),
  /** A closed breaker forgets its failures once the last is older than this, in seconds. */
  cooldownSeconds: Seconds,
  /** Seconds an open breaker waits before it admits one test task. */
  halfOpenAfter: PositiveSeconds,
  /** What counts as a failure: a dead-lettered task, or every failed attempt. */
  countOn: CountOn,
}
export const BreakerSettings = t.type(breaker)
export type BreakerSettings = t.TypeOf<typeof BreakerSettings>

const defaults = {
  timeout: PositiveSeconds,
  /** Failures after which a task is a dead letter, the first one included: 3 means three attempts. */
  maxRetries: integer(0, 1_000),
  backoffSeconds: Seconds,
  maxBackoffSeconds: Seconds,
  /** Retries wait up to this share longer, at random, so that they do not come back all at once. */
  jitter: between(0, 1),
}

const assignment = {
  /** The largest number of candidates that one claim passes over: tasks that this agent is barred from, or for which it comes last. */
  maxQueueScanBatch: integer(1, 100_000),
  /** How long an agent comes last for a task that it failed, in seconds. */
  agentTaskBackoffWindow: Seconds,
}
const capacity = {
  /** The largest number of agents that hold leases at the same time. */
  maxConcurrentAgents: integer(1, 1_000_000),
  /** How many agents beyond that may start on bumped tasks. */
  overcapLimit: integer(0, 1_000_000),
  /** Whether tasks may be bumped. */
  bumpAndStart: t.boolean,
}
const CapacitySettings = t.type(capacity)
/** When alerts are raised: see `alerts.ts`. */
const alerts = {
  /** Raised when a ready CRITICAL task has waited for longer than this, in seconds. */
  criticalDepthSeconds: Seconds,
  /** The least number of failed attempts of a phase in five minutes that can be a spike. */
  retrySpikeMin: integer(1, 1_000_000),
}
/** How the score of a waiting task is made up (TQM-PRI-002 to TQM-PRI-004): see `ready/score.ts`. */
const scoreParts = {
  /** Weights of the parts of the score. */
  priority: between(0, 1),
  age: between(0, 1),
  deadline: between(0, 1),
  blockers: between(0, 1),
  retries: between(0, 1),
  /** Seconds after which the age counts in full. */
  ageCeiling: PositiveSeconds,
  /** How many seconds before the deadline the deadline begins to count; and the factor by which the score grows from then on. */
  slaUrgencyWindow: PositiveSeconds,
  slaBoost: between(1, 10),
  /** Seconds after which a task is starved; and the least score of a starved task with policy `score`. */
  starvationLimit: PositiveSeconds,
  starvationFloor: between(0, 10),
  /** Number of blocked tasks that counts in full. */
  blockerCeiling: integer(1, 1_000_000),
}
const ScoreSettings = t.type(scoreParts)
export type ScoreSettings = t.TypeOf<typeof ScoreSettings>

const rateLimit = {
  /** Seconds that a task and its agent wait after the first rate limit if the error gives no time. The wait doubles with each, up to `max`. */
  base: PositiveSeconds,
  max: PositiveSeconds,
  /** Waits without a `Retry-After` are up to this share longer, at random. */
  jitter: between(0, 1),
  /** The share of the wait, at most `max`, for which other agents get no tasks of the type. 0: not at all. */
  slowdownFactor: between(0, 1),
  /** How many rate limits of one task do not count as failures. */
  maxPerTask: integer(0, 1_000),
}

/**
 * The task that is spawned for a kind of discovery (TQM-BR-001). A type or phase that is left out is that of the parent, and a priority that of the
 * discovery's severity. The parent's skills are not taken over.
 */
const discovery = { type: TaskType, phase: Phase, priority: t.union([Priority, PriorityName]), skills: listOf(Name) }
const DiscoveryRule = t.exact(t.partial(discovery), 'discovery rule')
export type DiscoveryRule = t.TypeOf<typeof DiscoveryRule>

const loops = {
  /** A chain of tasks is halted when a validation has failed this many times with the same signature (TQM-VF-003). */
  repeatSignatureLimit: integer(1, 1_000),
  /** How many fixes a chain may have before a guardian decides (TQM-VF-002). */
  maxRounds: integer(1, 1_000),
  /** Discoveries of tasks this many steps from the first of their chain need approval. */
  maxGenerations: integer(1, 1_000),
  /** How many discoveries of one completion may spawn or propose a task. A fix and its check are not among them. */
  maxSpawned: integer(0, 1_000),
}

const single = {
  /**
   * `priority` serves starved tasks first, then by priority, then by score, then first in, first out. `score` serves by score, then by priority.
   */
  policy: t.keyof({ priority: null, score: null }, 'policy'),
  /** With `required`, a task that is completed without a report becomes *incomplete* (LK-02). */
  decisionReport: t.keyof({ required: null, optional: null }, 'decisionReport'),
  /** What makes a new task a duplicate of a known one: equal type and payload (`content`), an equal key of the producer (`key`), or nothing (`off`). */
  deduplicate: Deduplicate,
  /** Whether the contents of tasks are encrypted in the log, each under a key of its own that can be deleted (EV-07): see `withhold.ts`. */
  erasable: t.boolean,
  /** Whether tenants know nothing of each other's tasks (see `isolation.ts`). Can be changed only while the queue is empty. */
  tenants: t.keyof({ shared: null, isolated: null }, 'tenants'),
  /** How long finished tasks stay known to the queue (listed, and blocking duplicates), in seconds. */
  retentionSeconds: Seconds,
  /** Number of claims without success after which a task becomes a dead letter (GB-02). */
  maxAttempts: integer(1, 1_000_000),
}

/** A tenant's share of the leases, relative to the shares of the others (TQM-ASSIGN-004). */
const Weight = between(0.01, 1_000)

export const Settings = t.type(
  {
    ...single,
    defaults: t.type(defaults),
    capacity: CapacitySettings,
    score: ScoreSettings,
    rateLimit: t.type(rateLimit),
    alerts: t.type(alerts),
    assignment: t.type({ ...assignment, /** Weights by tenant. `default` holds for all other tenants. */ tenants: t.record(Name, Weight) }),
    loops: t.type(loops),
    /** By kind of discovery. Discoveries of other kinds are only kept in the result. */
    discoveries: t.record(Name, DiscoveryRule),
    breakers: t.type({ defaults: BreakerSettings, overrides: t.record(TaskType, t.partial(breaker)) }),
  },
  'settings',
)
export type Settings = t.TypeOf<typeof Settings>

export const settingsDefault: Settings = {
  policy: 'priority',
  decisionReport: 'required',
  deduplicate: 'content',
  erasable: false,
  tenants: 'shared',
  retentionSeconds: 604_800,
  maxAttempts: 25,
  defaults: { timeout: 3_600, maxRetries: 3, backoffSeconds: 60, maxBackoffSeconds: 3_600, jitter: 0.1 },
  capacity: { maxConcurrentAgents: 10, overcapLimit: 1, bumpAndStart: true },
  alerts: { criticalDepthSeconds: 60, retrySpikeMin: 10 },
  score: {
    priority: 0.45,
    age: 0.2,
    deadline: 0.15,
    blockers: 0.15,
    retries: 0.05,
    ageCeiling: 3_600,
    slaUrgencyWindow: 900,
    slaBoost: 1.25,
    starvationLimit: 7_200,
    starvationFloor: 0.6,
    blockerCeiling: 10,
  },
  rateLimit: { base: 60, max: 3_600, jitter: 0.1, slowdownFactor: 0.5, maxPerTask: 20 },
  assignment: { maxQueueScanBatch: 200, agentTaskBackoffWindow: 1_800, tenants: { default: 1 } },
  loops: { repeatSignatureLimit: 3, maxRounds: 10, maxGenerations: 10, maxSpawned: 100 },
  discoveries: {
    security_issue: { phase: 'ANALYSIS', priority: 'CRITICAL' },
    requires_clarification: { phase: 'REQUIREMENTS' },
    optimization_opportunity: { phase: 'ANALYSIS', priority: 'MEDIUM' },
  },
  breakers: {
    defaults: { failureThreshold: 5, cooldownSeconds: 300, halfOpenAfter: 60, countOn: 'dead-letter' },
    overrides: {},
  },
}

/** A part of the settings; the others are not changed. `null` removes an override, a weight or a discovery. */
export const SettingsPatch = t.exact(
  t.partial({
    ...single,
    defaults: t.exact(t.partial(defaults)),
    capacity: t.exact(t.partial(capacity)),
    score: t.exact(t.partial(scoreParts)),
    rateLimit: t.exact(t.partial(rateLimit)),
    alerts: t.exact(t.partial(alerts)),
    assignment: t.exact(t.partial({ ...assignment, tenants: recordOf(Name, t.union([Weight, t.null])) })),
    loops: t.exact(t.partial(loops)),
    discoveries: recordOf(Name, t.union([DiscoveryRule, t.null])),
    breakers: t.exact(
      t.partial({
        defaults: t.exact(t.partial(breaker)),
        overrides: recordOf(TaskType, t.union([t.exact(t.partial(breaker)), t.null])),
      }),
    ),
  }),
  'settings patch',
)
export type SettingsPatch = t.TypeOf<typeof SettingsPatch>

export const patchSettings = (settings: Settings, patch: SettingsPatch): Settings => {
  const overrides = patchedMembers(settings.breakers.overrides, patch.breakers?.overrides, (before, override) => ({ ...before, ...given(override) }))
  const tenants = patchedMembers(settings.assignment.tenants, patch.assignment?.tenants, (_, weight) => weight)
  const discoveries = patchedMembers(settings.discoveries, patch.discoveries, (before, rule) => ({ ...before, ...given(rule) }))
  return {
    ...settings,
    // The sections among them are replaced below.
    ...given(patch),
    defaults: { ...settings.defaults, ...given(patch.defaults) },
    capacity: { ...settings.capacity, ...given(patch.capacity) },
    alerts: { ...settings.alerts, ...given(patch.alerts) },
    score: patch.score === undefined ? settings.score : { ...settings.score, ...given(patch.score) },
    rateLimit: { ...settings.rateLimit, ...given(patch.rateLimit) },
    assignment: { ...settings.assignment, ...given(patch.assignment), tenants },
    loops: { ...settings.loops, ...given(patch.loops) },
    discoveries,
    breakers: { defaults: { ...settings.breakers.defaults, ...given(patch.breakers?.defaults) }, overrides },
  }
}

/** Members by name; `null` removes one. A map, because a name may be anything, even `__proto__`. */
const patchedMembers = <A, B>(
  members: Readonly<Record<string, A>>,
  patch: Readonly<Record<string, B | null>> = {},
  change: (before: A | undefined, to: B) => A,
): Readonly<Record<string, A>> => {
  const patched = new Map(Object.entries(members))
  for (const [name, to] of Object.entries(patch)) {
    if (to === null) patched.delete(name)
    else if (to !== undefined) patched.set(name, change(patched.get(name), to))
  }
  return Object.fromEntries(patched)
}

/** The patch without `undefined` members, which would not survive the log. */
const given = <T extends object>(patch: T | undefined): T | undefined =>
  // Only optional members are removed.
  patch === undefined ? undefined : (Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined)) as T)

export const breakerSettings = (settings: Settings, type: string): BreakerSettings => ({
  ...settings.breakers.defaults,
  ...settings.breakers.overrides[type],
})
