/**
 * The steps of a scenario as plain data. Entities are addressed by index, modulo their number, so that nearly every
 * step has an effect and a failing sequence shrinks to a few readable lines.
 */
import { type Deduplicate, type Limit, type Phase, phases, type SettingsPatch } from '@daybook/core'
import * as fc from 'fast-check'

export const taskTypes = ['eng-a', 'eng-b', 'ops'] as const
export const agents = ['ann', 'bob', 'cy', 'dot'] as const
export const skillNames = ['go', 'sql'] as const
export const callbackKeys = ['approve', 'hook', 'paid'] as const
export const concurrencyKeys = ['db', 'mail'] as const
export const orderingKeys = ['cart-1', 'cart-2'] as const
export const tenants = ['acme', 'zen'] as const
/** Weights that divide the cost of a lease, one that does not, and none. */
const weight = fc.constantFrom(null, 0.5, 2, 3, 11)

export const scheduleNames = ['nightly', 'poll'] as const

/** The element that a step means by this index. */
export const at = <T>(list: ReadonlyArray<T>, index: number): T => list[index % list.length] as T

export interface TaskSpec {
  readonly type: number
  readonly priority: number
  /** One of a few colliding keys, or null for its own. */
  readonly key: number | null
  /** Whether the key is the hash of type and payload instead of the producer's. */
  readonly isContentKey: boolean
  /** Whether the producer gave no id. */
  readonly isMadeId: boolean
  readonly deduplicate: Deduplicate | null
  /** Uses the id of an existing task. */
  readonly reuseId: number | null
  readonly dependencies: ReadonlyArray<number>
  readonly delaySeconds: number
  /** From its enqueueing on; may be in the past. */
  readonly deadlineSeconds?: number | null
  readonly timeout: number
  readonly maxRun?: number | null
  readonly maxRetries: number
  readonly backoffSeconds: number
  readonly phase: Phase | null
  readonly tenant: number | null
  readonly skills: ReadonlyArray<number>
  readonly ticket: number | null
  readonly concurrency?: { readonly key: number; readonly limit: number | null } | null
  readonly line?: number | null
  /** Joins one of the batches that are not finished. */
  readonly batch?: number | null
}

export type Step =
  | { readonly kind: 'enqueue'; readonly tasks: ReadonlyArray<TaskSpec> }
  | {
      readonly kind: 'import'
      readonly tasks: ReadonlyArray<TaskSpec & { readonly status: 'pending' | 'completed' | 'cancelled' | 'dead-letter' }>
    }
  | {
      readonly kind: 'claim'
      readonly agent: number
      readonly types: ReadonlyArray<string> | null
      readonly phase: Phase | null
      readonly skills: number | null
      readonly tenant: number | null
      readonly max: number
      readonly leaseSeconds: number | null
    }
  | {
      readonly kind: 'report'
      readonly pick: number
      readonly how: 'complete' | 'bare' | 'fail' | 'fatal' | 'release' | 'park' | 'limited' | 'heartbeat'
      /** The newest token, an older one, another agent, or the token of another task of the same agent. */
      readonly who: 'holder' | 'stale' | 'other' | 'crossed'
      readonly error: number
      /** Findings of a completion: kinds of discoveries, each for this ticket or another; and whether validation failed. */
      readonly found?: { readonly discoveries: ReadonlyArray<{ readonly kind: string; readonly ticket: number | null }>; readonly isInvalid: boolean } | null
    }
  /** By one of a few keys. */
  | { readonly kind: 'callback'; readonly key: number }
  | { readonly kind: 'guardian'; readonly verb: 'Approve' | 'Refuse'; readonly pick: number }
  | { readonly kind: 'cancel'; readonly pick: number }
  /** Cancels tasks of one type or all, of one status or all, at most `max` events at a time. */
  | { readonly kind: 'cancelAll'; readonly type: number; readonly status: 'pending' | 'blocked' | 'in-progress' | null; readonly max: number }
  /** Cancels everything unfinished, then deletes the queue. */
  | { readonly kind: 'delete' }
  | { readonly kind: 'redrive'; readonly perMinute: number; readonly type: number; readonly stop: boolean }
  | { readonly kind: 'review'; readonly verb: 'Retry' | 'Discard' | 'Snooze' | 'Escalate'; readonly pick: number | null; readonly type: number }
  | { readonly kind: 'breaker'; readonly verb: 'OpenBreaker' | 'CloseBreaker'; readonly type: number }
  /** Creates a schedule, or changes the one of this name. */
  | {
      readonly kind: 'schedule'
      readonly name: number
      readonly rule: { readonly cron: string } | { readonly every: number }
      readonly missed: 'skip' | 'once' | 'all'
      readonly overlap: 'allow' | 'skip' | 'queue'
      readonly paused: boolean
      readonly task: number
    }
  | { readonly kind: 'unschedule'; readonly name: number }
  /** Makes a batch; with `again`, one that there is. */
  | {
      readonly kind: 'batch'
      readonly tasks: ReadonlyArray<TaskSpec>
      readonly on: 'finished' | 'settled'
      readonly callback: boolean
      readonly open: boolean
      readonly again: number | null
    }
  | { readonly kind: 'closeBatch'; readonly pick: number }
  | { readonly kind: 'cancelBatch'; readonly pick: number; readonly runsCallback: boolean; readonly max: number }
  /** Raises and clears alerts: now, or when the next one is due. */
  | { readonly kind: 'alert'; readonly late: boolean }
  | { readonly kind: 'terminate'; readonly agent: number }
  | {
      readonly kind: 'register'
      readonly agent: number
      readonly types: ReadonlyArray<string> | null
      readonly phase: Phase | null
      readonly skills: number | null
      readonly tenant: number | null
      readonly maxTasks: number | null
      readonly ttlSeconds: number
    }
  | { readonly kind: 'bump' | 'restart' | 'erase'; readonly pick: number }
  /** Changes what is not null. Times are seconds from now, or `none`. */
  | {
      readonly kind: 'amend'
      readonly pick: number
      readonly priority: number | null
      readonly deadline: number | 'none' | null
      readonly available: number | 'none' | null
      readonly payload: boolean
    }
  /** Sets a limit; removes it if `limit` is null. */
  | { readonly kind: 'limit'; readonly key: string; readonly limit: Limit | null }
  | { readonly kind: 'configure'; readonly patch: SettingsPatch }
  | { readonly kind: 'pause' | 'resume' | 'tick' | 'mark' | 'release' | 'reload' }
  /** Rolls back to one of the marks, counted from the newest. */
  | { readonly kind: 'rollback'; readonly pick: number }
  /** Sets the clock forward or back. It has no effect until the next step. */
  | { readonly kind: 'clock'; readonly seconds: number }
  /** Waits until something is due, and ticks. */
  | { readonly kind: 'wait' }
  /** Enqueues a finished task again, by its key or id; with `late`, as soon as its retention is over, with nothing in between. */
  | { readonly kind: 'again'; readonly pick: number; readonly by: 'key' | 'id'; readonly late: boolean }

const index = fc.nat({ max: 99 })
const seldom = <T>(arbitrary: fc.Arbitrary<T>) => fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, { weight: 1, arbitrary })

const limit: fc.Arbitrary<Limit> = fc.constantFrom<Limit>(
  { concurrency: 0 }, { concurrency: 1 }, { concurrency: 1 }, { concurrency: 2 }, { concurrency: 3 },
  { rate: { starts: 1, perSeconds: 0.5 } }, { rate: { starts: 1, perSeconds: 20 } }, { rate: { starts: 2, perSeconds: 20 } }, { rate: { starts: 3, perSeconds: 90 } },
  { concurrency: 1, rate: { starts: 2, perSeconds: 90 } }, { concurrency: 2, rate: { starts: 3, perSeconds: 20 } },
)

const taskSpec: fc.Arbitrary<TaskSpec> = fc.record({
  type: fc.nat({ max: taskTypes.length - 1 }),
  priority: fc.integer({ min: 1, max: 10 }),
  key: fc.oneof({ weight: 2, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.nat({ max: 15 }) }),
  isContentKey: fc.boolean(),
  isMadeId: fc.boolean(),
  deduplicate: fc.oneof({ weight: 6, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.constantFrom('content' as const, 'key' as const, 'off' as const) }),
  reuseId: fc.oneof({ weight: 15, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: index }),
  dependencies: fc.oneof(
    { weight: 5, arbitrary: fc.constant([]) },
    { weight: 2, arbitrary: fc.array(index, { minLength: 1, maxLength: 2 }) },
  ),
  delaySeconds: fc.constantFrom(0, 0, 0, 0, 0, 0, 5, 90),
  deadlineSeconds: fc.oneof({ weight: 2, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.constantFrom(-5, 20, 60, 70, 95, 300, 1_000) }),
  timeout: fc.constantFrom(1, 30, 30, 3_600),
  maxRun: fc.constantFrom(null, null, null, null, null, 0.5, 40, 100),
  maxRetries: fc.constantFrom(0, 1, 1, 2, 3),
  backoffSeconds: fc.constantFrom(0, 1, 60),
  phase: seldom(fc.constantFrom(...phases.slice(0, 2))),
  tenant: seldom(fc.nat({ max: tenants.length - 1 })),
  skills: fc.oneof({ weight: 4, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: fc.subarray([0, 1]) }),
  ticket: seldom(fc.nat({ max: 2 })),
  concurrency: seldom(fc.record({ key: fc.nat({ max: 1 }), limit: seldom(fc.constantFrom(1, 2)) })),
  line: fc.oneof({ weight: 6, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.nat({ max: 1 }) }),
  batch: fc.oneof({ weight: 6, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: index }),
})

const breakerPatch = fc.record(
  {
    failureThreshold: fc.constantFrom(1, 2, 3),
    cooldownSeconds: fc.constantFrom(0, 60, 300),
    halfOpenAfter: fc.constantFrom(0.5, 20, 60),
    countOn: fc.constantFrom('dead-letter' as const, 'attempt' as const),
  },
  { requiredKeys: [] },
)
export const settingsPatch: fc.Arbitrary<SettingsPatch> = fc.record(
  {
    decisionReport: fc.constantFrom('required' as const, 'optional' as const),
    deduplicate: fc.constantFrom('content' as const, 'content' as const, 'key' as const, 'off' as const),
    retentionSeconds: fc.constantFrom(0, 30, 600, 604_800),
    maxAttempts: fc.constantFrom(2, 4, 25),
    alerts: fc.record({ criticalDepthSeconds: fc.constantFrom(0, 5, 60), retrySpikeMin: fc.constantFrom(1, 2, 10) }, { requiredKeys: [] }),
    defaults: fc.record({ jitter: fc.constantFrom(0, 0.1, 1), maxBackoffSeconds: fc.constantFrom(1, 3_600) }, { requiredKeys: [] }),
    rateLimit: fc.record(
      { base: fc.constantFrom(1, 30, 60), max: fc.constantFrom(40, 3_600), slowdownFactor: fc.constantFrom(0, 0.5, 1), maxPerTask: fc.constantFrom(0, 1, 2, 20) },
      { requiredKeys: [] },
    ),
    policy: fc.constantFrom('priority' as const, 'score' as const, 'score' as const),
    score: fc.record(
      {
        // Weights and times for which the rates are whole, so that the formula and the units agree.
        priority: fc.constantFrom(0, 0.1, 0.45),
        age: fc.constantFrom(0, 0.2, 0.4),
        deadline: fc.constantFrom(0, 0.15, 0.5),
        blockers: fc.constantFrom(0, 0.15, 1),
        retries: fc.constantFrom(0, 0.05, 0.5),
        ageCeiling: fc.constantFrom(30, 600, 3_600),
        slaUrgencyWindow: fc.constantFrom(60, 300, 900),
        slaBoost: fc.constantFrom(1, 1.25, 2),
        starvationLimit: fc.constantFrom(10, 100, 7_200),
        starvationFloor: fc.constantFrom(0, 0.6, 1),
        blockerCeiling: fc.constantFrom(1, 2, 10),
      },
      { requiredKeys: [] },
    ),
    capacity: fc.record(
      { maxConcurrentAgents: fc.constantFrom(1, 2, 3, 10, 10, 10), overcapLimit: fc.constantFrom(0, 1, 2), bumpAndStart: fc.constantFrom(true, true, false) },
      { requiredKeys: [] },
    ),
    assignment: fc.record(
      {
        maxQueueScanBatch: fc.constantFrom(1, 2, 200),
        agentTaskBackoffWindow: fc.constantFrom(0, 40.5, 1_800),
        tenants: fc.record({ acme: weight, zen: weight, default: fc.constantFrom(1, 4) }, { requiredKeys: [] }),
      },
      { requiredKeys: [] },
    ),
    loops: fc.record(
      { repeatSignatureLimit: fc.constantFrom(1, 2, 5, 5), maxRounds: fc.constantFrom(1, 1, 3), maxGenerations: fc.constantFrom(1, 1, 2), maxSpawned: fc.constantFrom(1, 100) },
      { requiredKeys: [] },
    ),
    discoveries: fc.dictionary(fc.constantFrom('rumour', 'optimization_opportunity'), fc.constantFrom(null, { priority: 'LOW' as const, type: 'ops' }, { phase: 'TESTING' as const }), { maxKeys: 2, noNullPrototype: true }),
    breakers: fc.record(
      {
        defaults: breakerPatch,
        overrides: fc.dictionary(fc.constantFrom(...taskTypes), fc.option(breakerPatch, { nil: null }), { maxKeys: 2, noNullPrototype: true }),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
)

const weighted: ReadonlyArray<readonly [number, fc.Arbitrary<Step>]> = [
  [12, fc.record({ kind: fc.constant('enqueue' as const), tasks: fc.array(taskSpec, { minLength: 1, maxLength: 4 }) })],
  [
    2,
    fc.record({
      kind: fc.constant('import' as const),
      tasks: fc.array(
        fc
          .tuple(taskSpec, fc.constantFrom('pending' as const, 'completed' as const, 'cancelled' as const, 'dead-letter' as const))
          .map(([spec, status]) => ({ ...spec, status })),
        { minLength: 1, maxLength: 3 },
      ),
    }),
  ],
  [
    26,
    fc.record({
      kind: fc.constant('claim' as const),
      agent: fc.nat({ max: agents.length - 1 }),
      types: fc.option(fc.subarray(['eng-a', 'eng-*', 'ops', '*'], { minLength: 1 }), { nil: null, freq: 2 }),
      phase: seldom(fc.constantFrom(...phases.slice(0, 2))),
      skills: fc.constantFrom(null, 0, 1, 2, 2, 2),
      tenant: fc.oneof({ weight: 6, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.nat({ max: 1 }) }),
      max: fc.constantFrom(1, 2, 4, 6),
      leaseSeconds: seldom(fc.constantFrom(0.5, 10, 60)),
    }),
  ],
  [
    34,
    fc.record({
      kind: fc.constant('report' as const),
      pick: index,
      how: fc.constantFrom(
        ...(['complete', 'complete', 'complete', 'complete', 'bare', 'bare', 'fail', 'fail', 'fail', 'fail', 'fatal', 'release', 'release', 'park', 'park', 'limited', 'limited', 'heartbeat'] as const),
      ),
      who: fc.constantFrom(...(['holder', 'holder', 'holder', 'holder', 'holder', 'holder', 'stale', 'other', 'crossed'] as const)),
      error: fc.nat({ max: 2 }),
      found: fc.oneof(
        { weight: 1, arbitrary: fc.constant(null) },
        {
          weight: 1,
          arbitrary: fc.record({
            discoveries: fc.array(fc.record({ kind: fc.constantFrom('security_issue', 'optimization_opportunity', 'rumour'), ticket: seldom(fc.nat({ max: 2 })) }), { maxLength: 2 }),
            isInvalid: fc.constantFrom(true, true, false),
          }),
        },
      ),
    }),
  ],
  [4, fc.record({ kind: fc.constant('callback' as const), key: fc.nat({ max: callbackKeys.length - 1 }) })],
  [6, fc.record({ kind: fc.constant('guardian' as const), verb: fc.constantFrom('Approve' as const, 'Approve' as const, 'Refuse' as const), pick: index })],
  [5, fc.record({ kind: fc.constant('cancel' as const), pick: index })],
  [
    2,
    fc.record({
      kind: fc.constant('cancelAll' as const),
      type: fc.nat({ max: taskTypes.length }),
      status: fc.constantFrom('pending' as const, 'blocked' as const, 'in-progress' as const, null),
      max: fc.constantFrom(1, 2, 1_000),
    }),
  ],
  [1, fc.constant<Step>({ kind: 'delete' })],
  [
    5,
    fc.record({
      kind: fc.constant('review' as const),
      verb: fc.constantFrom('Retry' as const, 'Retry' as const, 'Discard' as const, 'Snooze' as const, 'Escalate' as const),
      pick: fc.option(index, { nil: null }),
      type: fc.nat({ max: taskTypes.length }),
    }),
  ],
  [
    3,
    fc.record({ kind: fc.constant('redrive' as const), perMinute: fc.constantFrom(1, 60, 6_000), type: fc.nat({ max: taskTypes.length }), stop: fc.constantFrom(false, false, false, true) }),
  ],
  [
    2,
    fc.record({
      kind: fc.constant('breaker' as const),
      verb: fc.constantFrom('OpenBreaker' as const, 'CloseBreaker' as const, 'CloseBreaker' as const),
      type: fc.nat({ max: taskTypes.length - 1 }),
    }),
  ],
  [
    2,
    fc.record({
      kind: fc.constant('schedule' as const),
      name: fc.nat({ max: 1 }),
      rule: fc.constantFrom({ every: 90 }, { every: 5_000 }, { cron: '*/5 * * * *' }, { cron: '0 3 * * *' }, { cron: '*/20 * * * * *' }),
      missed: fc.constantFrom('skip' as const, 'skip' as const, 'once' as const, 'once' as const, 'all' as const),
      // Few schedules allow overlaps, because these fill the queue, and a history with many tasks takes long.
      overlap: fc.constantFrom('allow' as const, 'skip' as const, 'skip' as const, 'queue' as const, 'queue' as const, 'queue' as const),
      paused: fc.constantFrom(false, false, false, true),
      task: fc.nat({ max: taskTypes.length - 1 }),
    }),
  ],
  [
    4,
    fc.record({
      kind: fc.constant('batch' as const),
      tasks: fc.array(taskSpec, { maxLength: 2 }),
      on: fc.constantFrom('finished' as const, 'finished' as const, 'settled' as const),
      callback: fc.constantFrom(true, true, true, false),
      open: fc.constantFrom(false, false, true),
      again: seldom(index),
    }),
  ],
  [3, fc.record({ kind: fc.constant('closeBatch' as const), pick: index })],
  [1, fc.record({ kind: fc.constant('cancelBatch' as const), pick: index, runsCallback: fc.boolean(), max: fc.constantFrom(1, 1, 1_000) })],
  [3, fc.record({ kind: fc.constant('alert' as const), late: fc.boolean() })],
  [1, fc.record({ kind: fc.constant('unschedule' as const), name: fc.nat({ max: 1 }) })],
  [
    5,
    fc.record({
      kind: fc.constant('limit' as const),
      key: fc.constantFrom(...concurrencyKeys, '*', 'type:eng-a', 'type:*', 'tenant:acme', 'tenant:*'),
      limit: fc.oneof({ weight: 2, arbitrary: fc.constant(null) }, { weight: 3, arbitrary: limit }),
    }),
  ],
  [2, fc.record({ kind: fc.constant('terminate' as const), agent: fc.nat({ max: agents.length - 1 }) })],
  [
    4,
    fc.record({
      kind: fc.constant('register' as const),
      agent: fc.nat({ max: agents.length - 1 }),
      types: fc.option(fc.subarray(['eng-a', 'eng-*', 'ops', '*'], { minLength: 1 }), { nil: null, freq: 2 }),
      phase: seldom(fc.constantFrom(...phases.slice(0, 2))),
      skills: fc.option(fc.constantFrom(1, 2, 2), { nil: null, freq: 2 }),
      tenant: fc.oneof({ weight: 6, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.nat({ max: 1 }) }),
      maxTasks: fc.option(fc.constantFrom(1, 2, 4), { nil: null, freq: 2 }),
      ttlSeconds: fc.constantFrom(1, 30, 600, 600),
    }),
  ],
  [6, fc.record({ kind: fc.constant('bump' as const), pick: index })],
  [3, fc.record({ kind: fc.constant('erase' as const), pick: index })],
  [2, fc.record({ kind: fc.constant('restart' as const), pick: index })],
  [
    4,
    fc.record({
      kind: fc.constant('amend' as const),
      pick: index,
      priority: fc.oneof(fc.constant(null), fc.constantFrom(1, 5, 9, 10, 10)),
      deadline: fc.constantFrom(null, null, 'none' as const, -5, 20, 95, 1_000),
      available: fc.constantFrom(null, null, 'none' as const, -5, 5, 90),
      payload: fc.boolean(),
    }),
  ],
  [2, fc.record({ kind: fc.constant('configure' as const), patch: settingsPatch })],
  [1, fc.constantFrom<Step>({ kind: 'pause' })],
  [12, fc.constantFrom<Step>({ kind: 'resume' })],
  [3, fc.constantFrom<Step>({ kind: 'tick' }, { kind: 'reload' })],
  [6, fc.constantFrom<Step>({ kind: 'mark' }, { kind: 'mark' }, { kind: 'release' })],
  [5, fc.record({ kind: fc.constant('rollback' as const), pick: fc.nat({ max: 3 }) })],
  [5, fc.record({ kind: fc.constant('clock' as const), seconds: fc.constantFrom(1, 1, 20, 70, 400, 90_000, -1, -50, -5_000) })],
  [14, fc.constant<Step>({ kind: 'wait' })],
  [5, fc.record({ kind: fc.constant('again' as const), pick: index, by: fc.constantFrom('key' as const, 'id' as const), late: fc.boolean() })],
]

export interface Scenario {
  readonly settings: SettingsPatch
  readonly steps: ReadonlyArray<Step>
}

export const scenarios = (stepsMax: number): fc.Arbitrary<Scenario> =>
  fc.record({
    settings: fc.oneof({ weight: 5, arbitrary: settingsPatch }, { weight: 1, arbitrary: settingsPatch.map((patch) => ({ ...patch, tenants: 'isolated' as const })) }),
    steps: fc.array(fc.oneof(...weighted.map(([weight, arbitrary]) => ({ weight, arbitrary }))), {
      minLength: 1,
      maxLength: stepsMax,
      size: 'max',
    }),
  })
