/**
 * Queries on a state. Answers are copies and do not change with the state. Content (payload, result) is not in the state: `contentRevision` and
 * `lastRevision` say where in the log it is.
 */
import { isAtCapacity } from '../state/capacity.js'
import { type Alert, failureCountsAt, discoveryIn, spikeStepMs } from '../state/alerts.js'
import { nextAlert } from '../decide/alerts.js'
import { deadLettersMatching, reviewMax } from '../decide/dead-letters.js'
import { findTask, recordOf } from '../decide/lookup.js'
import { earliest, nextLeaseEnd as nextLeaseEndOf, nextOther } from '../decide/tick.js'
import { type ClaimRequest, pickTasks } from '../decide/claim.js'
import type { DeadLetterFilter } from '../model/commands.js'
import type { AlikeDeadLetters } from '../state/dead-letter-index.js'
import { isIsolated } from '../model/isolation.js'
import { matchesType } from '../text/type-pattern.js'
import { QueueState } from '../fold/queue-state.js'
import { forgotten, holderOfKey, nextForgotten as nextForgottenOf } from '../state/retention.js'
import { type LimitView, limitView } from '../limits/view.js'
import type { Settings } from '../model/settings.js'
import type { StatusList } from '../state/status-lists.js'
import type { Tables } from '../state/tables.js'
import { contentRevisionOf as revisionOfContent, type Breaker, type BreakerState, type Redrive, type TaskRecord, type UnreadableEvent } from '../records/records.js'
import { type Band, bandOf, type Phase, type Status, statuses } from '../model/task.js'
import { shownOf, type TaskView } from './task-view.js'

/** A task by id, or by number as `#42`; `undefined` if it is not known at `at`. `at`: milliseconds since 1970; default: the state's own time. */
export const taskOf = (state: QueueState, id: string, at = timeOf(state)): TaskView | undefined => {
  const tables = QueueState.tablesOf(state)
  const task = findTask(tables, id, at)
  return task === undefined ? undefined : shownOf(tables, task)
}

export interface Depth {
  readonly total: number
  readonly byStatus: Readonly<Record<Status, number>>
  /** Number of ready tasks (pending or queued) by priority band, type, phase and tenant. */
  readonly byPriority: Readonly<Record<Band, number>>
  readonly byType: Readonly<Record<string, number>>
  readonly byPhase: Readonly<Record<string, number>>
  readonly byTenant: Readonly<Record<string, number>>
  /** When the ready task with the lowest number was enqueued, in milliseconds since 1970. */
  readonly oldestPendingAt: number | undefined
}

/**
 * Counts the tasks known at `at`. Default: the state's own time.
 *
 * Cost: O(groups with ready tasks), and O(1) for each forgotten task that has not been evicted yet.
 */
export const depthOf = (state: QueueState, at = timeOf(state)): Depth => {
  const tables = QueueState.tablesOf(state)
  const byPriority: Record<Band, number> = { CRITICAL: 0, HIGH: 0, MEDIUM: 0, LOW: 0 }
  const byType = new Map<string, number>()
  const byPhase = new Map<string, number>()
  const byTenant = new Map<string, number>()
  let oldest: TaskRecord | undefined
  for (const group of tables.ready.groupsWithTasks()) {
    const count = (into: Map<string, number>, key: string | undefined): void => {
      if (key !== undefined) into.set(key, (into.get(key) ?? 0) + group.ready)
    }
    count(byType, group.type)
    count(byPhase, group.phase)
    count(byTenant, group.tenant)
  }
  for (const { pending } of tables.lists.values()) {
    for (let priority = 1; priority < pending.length; priority++) {
      const list = pending[priority] as StatusList
      byPriority[bandOf(priority)] += list.size
      const first = list.first()
      if (first !== undefined && (oldest === undefined || first.number < oldest.number)) oldest = first
    }
  }
  return {
    ...countsAt(tables, at),
    byPriority,
    byType: byName(byType),
    byPhase: byName(byPhase),
    byTenant: byName(byTenant),
    oldestPendingAt: oldest?.enqueuedAt,
  }
}

/** Sorted by name, so that the order does not depend on how the state came about. */
const byName = (counts: ReadonlyMap<string, number>): Readonly<Record<string, number>> =>
  Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)))

export interface QueueSummary {
  /** Why the queue is paused; `null` when it is not. */
  readonly paused: string | null
  /** Number of all known tasks. */
  readonly total: number
  readonly byStatus: Readonly<Record<Status, number>>
}

/** Summarises the tasks known at `at`. Costs O(1) for each forgotten task that has not been evicted yet. */
export const summaryOf = (state: QueueState, at = timeOf(state)): QueueSummary => {
  const tables = QueueState.tablesOf(state)
  return { paused: tables.head.paused, ...countsAt(tables, at) }
}

/**
 * The same of these tenants' tasks alone; `undefined` if the queue's tenants are not isolated. A pause is told without its reason, which may be about
 * anybody. Costs O(tenants), and O(1) for each forgotten task that has not been evicted yet.
 */
export const summaryForTenants = (state: QueueState, tenants: ReadonlySet<string>, at = timeOf(state)): QueueSummary | undefined => {
  const tables = QueueState.tablesOf(state)
  if (!isIsolated(tables)) return undefined
  const all = [...tenants].map((tenant) => tables.tenantCounts.of(tenant))
  const sum = (status: Status): number => all.reduce((count, each) => count + each[status], 0)
  const counts = Object.fromEntries(statuses.map((status) => [status, sum(status)])) as Record<Status, number>
  const isTheirs = ({ group: { tenant } }: TaskRecord): boolean => tenant !== undefined && tenants.has(tenant)
  return { paused: tables.head.paused === null ? null : '', ...countsAt(tables, at, counts, isTheirs) }
}

/** `counts`: of the tasks that are counted, the forgotten ones included. */
const countsAt = (tables: Tables, at: number, counts: Readonly<Record<Status, number>> = tables.counts, isCounted: (task: TaskRecord) => boolean = () => true): Pick<Depth, 'total' | 'byStatus'> => {
  const byStatus = { ...counts }
  if (isAtCapacity(tables)) [byStatus.pending, byStatus.queued] = [0, byStatus.pending]
  for (const task of forgotten(tables, at)) if (isCounted(task)) byStatus[task.status]--
  return { total: statuses.reduce((total, status) => total + byStatus[status], 0), byStatus }
}

export interface BreakerView {
  readonly state: BreakerState
  readonly failures: number
  readonly lastFailure?: number
  readonly openedAt?: number
  /** When the breaker will turn, or has turned, half-open. Milliseconds since 1970. */
  readonly halfOpenAt?: number
  /** Id of the task that is testing a half-open breaker. */
  readonly probe?: string
  readonly reason?: string
}

export const breakersOf = (state: QueueState): Readonly<Record<string, BreakerView>> =>
  Object.fromEntries(
    [...QueueState.tablesOf(state).breakers.values()]
      .sort((a, b) => (a.type < b.type ? -1 : 1))
      .map((breaker) => [breaker.type, breakerView(breaker)]),
  )

/** The breaker of a type; `undefined` if no task of this type ever failed, and nobody ever opened it. */
export const breakerOf = (state: QueueState, type: string): BreakerView | undefined => {
  const breaker = QueueState.tablesOf(state).breakers.get(type)
  return breaker === undefined ? undefined : breakerView(breaker)
}

/** The type of a task; `undefined` if it is unknown. */
export const taskTypeOf = (state: QueueState, id: string): string | undefined => recordOf(QueueState.tablesOf(state), id)?.group.type

/** The ids of the tasks that wait for the end of a task: its dependents, and the next task with its ordering key. Cost: O(dependents). */
export const waitersOf = (state: QueueState, id: string): ReadonlyArray<string> => {
  const tables = QueueState.tablesOf(state)
  const task = recordOf(tables, id)
  if (task === undefined) return []
  const { orderingKey } = task.extras
  const next = orderingKey === undefined ? undefined : tables.lines.get(orderingKey)?.seek(task.number + 1).item
  return [...task.dependents.map((dependent) => dependent.id), ...(next === undefined ? [] : [next.id])]
}

const breakerView = (breaker: Breaker): BreakerView => ({
  state: breaker.state,
  failures: breaker.failures,
  ...(breaker.lastFailure === 0 ? {} : { lastFailure: breaker.lastFailure }),
  ...(breaker.openedAt === 0 ? {} : { openedAt: breaker.openedAt }),
  ...(breaker.halfOpenAt === 0 ? {} : { halfOpenAt: breaker.halfOpenAt }),
  ...(breaker.probe === null ? {} : { probe: breaker.probe.id }),
  ...(breaker.reason === '' ? {} : { reason: breaker.reason }),
})

/** Dead letters with the same type and signature, and so the same phase; imported ones have no signature, and any phase. */
export interface FailurePattern {
  readonly signature: string
  readonly type: string
  readonly phase?: Phase
  readonly count: number
  /** The error of one of these dead letters. */
  readonly sample: string
  readonly firstAt: number
  readonly lastAt: number
  /** Ids of at most ten of these dead letters. */
  readonly tasks: ReadonlyArray<string>
}

const patternTasksMax = 10

/**
 * The failure patterns of the dead letters that match, the most frequent first. `tenant`: only this tenant's dead letters.
 *
 * Cost: O(patterns); with a tenant or a filter by `error`, O(dead letters of the types and signatures that match).
 */
export const deadLetterPatterns = (state: QueueState, filter: DeadLetterFilter = {}, tenant?: string): ReadonlyArray<FailurePattern> => {
  const patterns: Array<FailurePattern> = []
  for (const alike of QueueState.tablesOf(state).deadLetters.entries(filter.signature)) {
    if (filter.type !== undefined && !matchesType(filter.type, alike.type)) continue
    const pattern = filter.error === undefined && tenant === undefined ? patternOf(alike) : patternAmong(alike, filter.error, tenant)
    if (pattern !== undefined) patterns.push(pattern)
  }
  const nameOf = ({ signature, type }: FailurePattern): string => `${signature} ${type}`
  return patterns.sort((a, b) => b.count - a.count || (nameOf(a) < nameOf(b) ? -1 : 1))
}

const diedAt = (task: TaskRecord | undefined): number => task?.extras.deadLetter?.at ?? 0

/** The pattern of all of these dead letters. */
const patternOf = ({ signature, type, byRank, byTime }: AlikeDeadLetters): FailurePattern => {
  const first: Array<TaskRecord> = []
  for (const cursor = byRank.cursor(); cursor.item !== undefined && first.length < patternTasksMax; cursor.advance()) first.push(cursor.item)
  return patternWith(signature, type, first, byRank.size, diedAt(byTime.first()), diedAt(byTime.last()))
}

/** The pattern among the dead letters of this tenant whose error contains this text, in any case. */
const patternAmong = ({ signature, type, byRank }: AlikeDeadLetters, error = '', tenant?: string): FailurePattern | undefined => {
  const text = error.toLowerCase()
  const found = [...byRank].filter(
    ({ extras, group }) => (tenant === undefined || group.tenant === tenant) && (text === '' || extras.lastError?.toLowerCase().includes(text) === true),
  )
  if (found.length === 0) return undefined
  const times = found.map(diedAt)
  return patternWith(signature, type, found.slice(0, patternTasksMax), found.length, times.reduce((a, b) => Math.min(a, b)), times.reduce((a, b) => Math.max(a, b)))
}

const patternWith = (signature: string, type: string, tasks: ReadonlyArray<TaskRecord>, count: number, firstAt: number, lastAt: number): FailurePattern => {
  const [first] = tasks
  const phase = signature === '' ? undefined : first?.group.phase
  return { signature, type, ...(phase === undefined ? {} : { phase }), count, sample: first?.extras.lastError ?? '', firstAt, lastAt, tasks: tasks.map(({ id }) => id) }
}

export const deadLetters = (state: QueueState, filter: DeadLetterFilter, max: number): ReadonlyArray<TaskView> => {
  const tables = QueueState.tablesOf(state)
  return deadLettersMatching(tables, filter, max).map((task) => shownOf(tables, task))
}

/** The last redrive, under way or stopped; `null` if there was none. */
export const redriveOf = (state: QueueState): Redrive | null => QueueState.tablesOf(state).head.redrive

/**
 * Of the first 1,000 dead letters that match, those that cannot be sent back, because another task has their idempotency key.
 */
export const unretriable = (state: QueueState, filter: DeadLetterFilter, at = timeOf(state)): ReadonlyArray<string> => {
  const tables = QueueState.tablesOf(state)
  return deadLettersMatching(tables, filter, reviewMax).flatMap(({ id, key }) => (holderOfKey(tables, key, at) === undefined ? [] : [id]))
}

/** Number of dead letters that match. Cost: O(dead letters of the types and signatures that match). */
export const countDeadLetters = (state: QueueState, filter: DeadLetterFilter): number =>
  deadLettersMatching(QueueState.tablesOf(state), filter, Number.POSITIVE_INFINITY).length

export interface QueueHead {
  readonly queue: string
  /** Revision of the last event folded, -1 for an empty queue. */
  readonly revision: number
  readonly at: number
  readonly settings: Settings
  /** Why the queue is paused; `null` when it is not. */
  readonly paused: string | null
  /** Why the queue was deleted; `null` after the next event. */
  readonly deleted: string | null
  readonly unreadable: Readonly<Record<string, number>>
  readonly misfits: number
  readonly lastNumber: number
}

export const headOf = (state: QueueState): QueueHead => {
  const { queue, head } = QueueState.tablesOf(state)
  const { revision, at, settings, paused, deleted, unreadable, misfits, lastNumber } = head
  return { queue, revision, at, settings, paused, deleted, unreadable, misfits, lastNumber }
}

/** Number of events that were skipped because they could not be read. */
export const unreadableCount = (state: QueueState): number =>
  Object.values(QueueState.tablesOf(state).head.unreadable).reduce((sum, count) => sum + count, 0)

/** The last event that was skipped because it could not be read; `null` if there is none. */
export const lastUnreadableOf = (state: QueueState): UnreadableEvent | null => QueueState.tablesOf(state).head.lastUnreadable

export const revisionOf = (state: QueueState): number => QueueState.tablesOf(state).head.revision
export const timeOf = (state: QueueState): number => QueueState.tablesOf(state).head.at

/** When the state next changes by itself, in milliseconds since 1970; `undefined` for never. */
export const nextDue = (state: QueueState): number | undefined => earliest(nextLeaseEnd(state), nextOtherDue(state))
/** When the first lease ends; `undefined` when there is none. */
export const nextLeaseEnd = (state: QueueState): number | undefined => nextLeaseEndOf(QueueState.tablesOf(state))
/** When anything but a lease ends by itself next, such as a delay; `undefined` for never. */
export const nextOtherDue = (state: QueueState): number | undefined => nextOther(QueueState.tablesOf(state))

/** When an alert is to be raised or cleared next: 0 for now, `undefined` for never. Not part of {@link nextDue}. */
export const nextAlertDue = (state: QueueState): number | undefined => nextAlert(QueueState.tablesOf(state))

/** The alerts that are raised, by key. */
export const alertsOf = (state: QueueState): ReadonlyArray<Alert> => QueueState.tablesOf(state).alerts.all()

/** The types that are slowed down after a rate limit (LK-16). */
export const slowedTypesOf = (state: QueueState, at: number): ReadonlyArray<string> =>
  [...QueueState.tablesOf(state).slowdowns].flatMap(({ name, until }) => (until > at ? [name] : []))

/** The failed attempts of a phase (`none`: tasks without one), or of the tasks about a kind of discovery. */
export interface FailedAttempts {
  readonly by: 'phase' | 'discovery'
  readonly name: string
  readonly count: number
}

/**
 * Failed attempts of the last hour (TQM-OBS-003): in the current five minutes, and in the twelve steps before. Only phases and kinds that are
 * counted: see {@link countedMax}.
 */
export const failedAttemptsOf = (state: QueueState, at: number): ReadonlyArray<FailedAttempts> =>
  [...QueueState.tablesOf(state).alerts.failures].map(([about, counts]) => {
    const count = failureCountsAt(counts, Math.max(counts.step, Math.floor(at / spikeStepMs))).reduce((a, b) => a + b, 0)
    const discovery = discoveryIn(about)
    return discovery === undefined ? { by: 'phase', name: about, count } : { by: 'discovery', name: discovery, count }
  })

/** When a ready task will next belong to another lane: see {@link forget}. `undefined` for never. */
export const nextMisplaced = (state: QueueState): number | undefined => QueueState.tablesOf(state).ready.places.nextMisplaced

/** When the next finished task will be forgotten; `undefined` if none is retained. */
export const nextForgotten = (state: QueueState): number | undefined => nextForgottenOf(QueueState.tablesOf(state))

/** Number of tasks in the state, including forgotten ones that have not been evicted yet. */
export const taskCount = (state: QueueState): number => QueueState.tablesOf(state).byId.size
/** Number of finished tasks in the state. */
export const finishedCount = (state: QueueState): number => QueueState.tablesOf(state).finished.size
/** About how many finished tasks are in a row store. */
export const storedCount = (state: QueueState): number => QueueState.tablesOf(state).finished.inStore
/** Number of groups and agents of finished tasks. */
export const nameCount = (state: QueueState): number => QueueState.tablesOf(state).finished.names

/** Whether this claim would get a task at `at`. Default: the state's own time. */
export const isClaimable = (state: QueueState, request: ClaimRequest, at = timeOf(state)): boolean =>
  pickTasks(QueueState.tablesOf(state), request, 1, at).length > 0

/** The live or retained task of which a task with this key would be a duplicate at `at`. */
export const duplicateOf = (state: QueueState, idempotencyKey: string, at = timeOf(state)): TaskView | undefined => {
  const tables = QueueState.tablesOf(state)
  const task = holderOfKey(tables, idempotencyKey, at)
  return task === undefined ? undefined : shownOf(tables, task)
}

/** The revision of the event that holds the task's content. */
export const contentRevisionOf = (state: QueueState, id: string): number | undefined => {
  const task = recordOf(QueueState.tablesOf(state), id)
  return task === undefined ? undefined : revisionOfContent(task)
}

/** The revision of the last event about a task. Its history is a chain of events that ends there. */
export const lastRevisionOf = (state: QueueState, id: string): number | undefined =>
  recordOf(QueueState.tablesOf(state), id)?.lastRevision

/** A task that was completed without the report that its queue requires, and the revision of its last event; `undefined` for any other. */
export const incompleteOf = (state: QueueState, id: string): { readonly id: string; readonly last: number } | undefined => {
  const tables = QueueState.tablesOf(state)
  if (tables.counts.incomplete === 0) return undefined
  const task = recordOf(tables, id)
  return task?.status === 'incomplete' ? { id: task.id, last: task.lastRevision } : undefined
}

/** The limits that are set, by key. */
export const limitsOf = (state: QueueState): ReadonlyArray<LimitView> => {
  const tables = QueueState.tablesOf(state)
  return [...tables.limits.set].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, limit]) => limitView(tables, key, limit))
}
/** The limit with this key; `undefined` if it is not set. */
export const limitOf = (state: QueueState, key: string): LimitView | undefined => {
  const tables = QueueState.tablesOf(state)
  const limit = tables.limits.set.get(key)
  return limit === undefined ? undefined : limitView(tables, key, limit)
}
