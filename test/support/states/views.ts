/** The views in the shapes of `query.ts`, computed by scans over a {@link Shadow} (INV-20). */
import { type AgentView, bandOf, type BreakerView, type Depth, type FailurePattern, shownFields, type Status, statuses, type TaskFilter, type TaskView } from '@daybook/core'
import type { HoldsUp } from '@daybook/core/testing'
import type { Shadow } from './shadow.js'
import type { ShadowTask } from './shadow-task.js'

/** Adds those of the optional members that are not `undefined`. A loop, for speed: it runs for every task of every history. */
const withGiven = <T extends object>(fields: T, optional: object, names: ReadonlyArray<string> = Object.keys(optional)): T => {
  const [into, from] = [fields as Record<string, unknown>, optional as Readonly<Record<string, unknown>>]
  for (const name of names) if (from[name] !== undefined) into[name] = from[name]
  return fields
}

/** The number of the attempt that makes the task a dead letter, if all attempts from now on fail. */
const lastAttempt = ({ settings }: Shadow, task: ShadowTask): number => {
  const isOver = ['dead-letter', 'cancelled', 'discarded'].includes(task.stage)
  const mayFail = (retries: number, attempts: number): boolean => retries < Math.max(1, task.facts.maxRetries) && attempts < settings.maxAttempts
  let { retries, attempts } = task
  for (let first = !isOver; first || mayFail(retries, attempts); first = false) {
    retries++
    attempts++
  }
  return attempts
}

const holdsUpInShadow = (shadow: Shadow, task: ShadowTask): HoldsUp | undefined => {
  const [dependents, inLine] = [shadow.dependentsOf(task).length, shadow.behind(task).length]
  return dependents + inLine === 0 ? undefined : { dependents, inLine }
}

const viewInShadow = (shadow: Shadow, task: ShadowTask): TaskView => {
  const { facts, lease } = task
  const status = shadow.shownStatusOf(task)
  const holder = shadow.isHeld(task) || status === 'completed' ? lease : null
  const dead = status === 'dead-letter' ? task.deadLetter : undefined
  const view = {
    id: facts.task,
    number: facts.number,
    type: facts.type,
    priority: facts.priority,
    status,
    idempotencyKey: facts.idempotencyKey,
    dependencies: facts.dependencies ?? [],
    timeout: facts.timeout,
    maxRetries: facts.maxRetries,
    backoffSeconds: facts.backoffSeconds,
    retries: task.retries,
    attempts: task.attempts,
    attempt: shadow.isHeld(task) || status === 'completed' ? task.attempts + 1 : task.attempts,
    attemptsMax: lastAttempt(shadow, task),
    createdAt: task.createdAt,
    skills: [...(facts.skills ?? [])].sort(),
    claimants: task.barred,
    enqueuedRevision: task.enqueuedRevision,
    contentRevision: task.contentRevision,
    lastRevision: task.lastRevision,
  }
  return withGiven(withGiven(view, facts, shownFields), {
    priorityBoosted: task.isBumped && !shadow.isEnded(task) ? true : undefined,
    availableAt: status === 'scheduled' ? task.delayedUntil : undefined,
    parked: status === 'waiting' ? task.parked : undefined,
    callback: task.callback,
    claimedBy: holder?.agent,
    claimedAt: holder?.at,
    leaseExpiresAt: shadow.isHeld(task) ? lease?.expiresAt : undefined,
    finishedAt: task.finishedAt === 0 ? undefined : task.finishedAt,
    lastError: task.lastError,
    signature: task.signature,
    rateLimits: task.rateLimits,
    snoozedUntil: status === 'dead-letter' ? task.snooze?.until : undefined,
    escalated: status === 'dead-letter' ? task.escalated : undefined,
    deadLetteredAt: dead?.at,
    deadLetterReason: dead?.reason,
    holdsUp: dead === undefined ? undefined : holdsUpInShadow(shadow, task),
    checkpointRevision: task.checkpointRevision,
    progressRevision: task.progressRevision,
  })
}

export const matchesFilter = (task: TaskView, filter: TaskFilter): boolean => {
  const { type, text, agent, phase, tenant, ticketId, priorityMin = 0, priorityMax = 10 } = filter
  const words = text === undefined ? [] : [task.id, task.type, task.ticketId, task.lastError].map((part) => (part ?? '').toLowerCase())
  return (
    (filter.statuses ?? statuses).includes(task.status) &&
    (type === undefined || (type.endsWith('*') ? task.type.startsWith(type.slice(0, -1)) : task.type === type)) &&
    (phase === undefined || task.phase === phase) &&
    (tenant === undefined || task.tenant === tenant) &&
    (ticketId === undefined || task.ticketId === ticketId) &&
    (filter.batchId === undefined || task.batchId === filter.batchId) &&
    (agent === undefined || task.claimedBy === agent) &&
    task.priority >= priorityMin &&
    task.priority <= priorityMax &&
    task.createdAt >= (filter.createdAfter ?? -Infinity) &&
    task.createdAt < (filter.createdBefore ?? Infinity) &&
    (text === undefined || words.some((word) => word.includes(text.toLowerCase())))
  )
}

/** All matching tasks, by status, then priority, then number. */
export const listInShadow = (shadow: Shadow, filter: TaskFilter = {}): ReadonlyArray<TaskView> => {
  const views = shadow.knownAt(shadow.at).sort(byPriorityThenAge).map((task) => viewInShadow(shadow, task))
  return statuses.flatMap((status) => views.filter((view) => view.status === status && matchesFilter(view, filter)))
}

const tally = (keys: ReadonlyArray<string | undefined>): Readonly<Record<string, number>> => {
  const counts = new Map<string, number>()
  for (const key of keys) if (key !== undefined) counts.set(key, (counts.get(key) ?? 0) + 1)
  return Object.fromEntries(counts)
}

/** `all`: the list of all tasks, if it was made before. */
export const depthInShadow = (shadow: Shadow, all: ReadonlyArray<TaskView> = listInShadow(shadow)): Depth => {
  const pending = all.filter((task) => task.status === 'pending' || task.status === 'queued').sort((a, b) => a.number - b.number)
  const none = Object.fromEntries(statuses.map((status) => [status, 0])) as Record<Status, number>
  return {
    total: all.length,
    byStatus: { ...none, ...tally(all.map((task) => task.status)) },
    byPriority: { CRITICAL: 0, HIGH: 0, MEDIUM: 0, LOW: 0, ...tally(pending.map((task) => bandOf(task.priority))) },
    byType: tally(pending.map((task) => task.type)),
    byPhase: tally(pending.map((task) => task.phase)),
    byTenant: tally(pending.map((task) => task.tenant)),
    oldestPendingAt: pending[0]?.createdAt,
  }
}

export const breakersInShadow = (shadow: Shadow): Readonly<Record<string, BreakerView>> =>
  Object.fromEntries(
    [...shadow.breakers].map(([type, breaker]) => [
      type,
      withGiven({ state: breaker.state, failures: breaker.failures.length } as BreakerView, {
        lastFailure: breaker.lastFailure === 0 ? undefined : breaker.lastFailure,
        openedAt: breaker.openedAt === 0 ? undefined : breaker.openedAt,
        halfOpenAt: breaker.halfOpenAt === 0 ? undefined : breaker.halfOpenAt,
        probe: breaker.probe ?? undefined,
        reason: breaker.reason === '' ? undefined : breaker.reason,
      }),
    ]),
  )

/** In no particular order, without samples. */
export const patternsInShadow = (shadow: Shadow): ReadonlyArray<Omit<FailurePattern, 'sample' | 'tasks'>> => {
  const dead = shadow.tasks.filter((task) => task.stage === 'dead-letter')
  const alike = (a: ShadowTask, b: ShadowTask): boolean => a.signature === b.signature && a.facts.type === b.facts.type
  return dead
    .filter((task, index) => dead.findIndex((other) => alike(task, other)) === index)
    .map((task) => {
      const times = dead.filter((other) => alike(task, other)).map((other) => other.deadLetter?.at ?? 0)
      return {
        signature: task.signature ?? '',
        type: task.facts.type,
        ...(task.signature === undefined || task.facts.phase === undefined ? {} : { phase: task.facts.phase }),
        count: times.length,
        firstAt: Math.min(...times),
        lastAt: Math.max(...times),
      }
    })
}

/** The registered agents and the agents that hold a task, each with its tasks by number. */
export const agentsInShadow = (shadow: Shadow): ReadonlyArray<AgentView> => {
  const held = shadow.tasks.filter((task) => shadow.isHeld(task))
  const registered = shadow.registeredAt(shadow.at)
  const names = [...new Set([...held.map((task) => task.lease?.agent ?? ''), ...registered.map(({ agent }) => agent)])].sort()
  return names.map((agentId) => {
    const own = held.filter((task) => task.lease?.agent === agentId)
    const leases = own.map(({ facts, lease }) => ({ task: facts.task, token: lease?.token ?? 0, expiresAt: lease?.expiresAt ?? 0 }))
    const sleepsUntil = shadow.sleepers.get(agentId) ?? 0
    const view: AgentView = { agentId, status: own.length > 0 ? 'working' : 'idle', tasks: leases.map(({ task }) => task), leases, ...(sleepsUntil > shadow.at ? { sleepsUntil } : {}) }
    const known = registered.find(({ agent }) => agent === agentId)
    if (known === undefined) return view
    const { agent: _, ttlMs, seenAt, ...abilities } = known
    return { ...view, ...abilities, lastSeenAt: seenAt, registeredUntil: seenAt + ttlMs }
  })
}

const byPriorityThenAge = (a: ShadowTask, b: ShadowTask): number =>
  b.facts.priority - a.facts.priority || a.facts.number - b.facts.number
