/**
 * Reading a state. What is returned is a copy: nothing in it changes with the state later on.
 * Content (payload, result) is not in the state; `enqueuedRevision` and `lastRevision` say where it is.
 */
import { deadLettersMatching } from './decide/dead-letters.js'
import { findTask } from './decide/lookup.js'
import { nextDue as nextDueOf } from './decide/tick.js'
import { type ClaimRequest, matchesType, mayTake, pickTasks } from './decide/claim.js'
import type { DeadLetterFilter } from './commands.js'
import type { DeadLetterReason } from './events.js'
import { QueueState } from './queue-state.js'
import type { Settings } from './settings.js'
import type { Cursor } from './sorted-list.js'
import { type Breaker, type BreakerState, firstRankOf, type Group, isHeld, type Lease, type TaskRecord } from './state.js'
import type { Tables } from './tables.js'
import { type Band, bandOf, bands, type Phase, type Status, statuses } from './task.js'

/** What the queue knows of a task, besides its content. Times are milliseconds since 1970. */
export interface TaskView {
  readonly id: string
  readonly number: number
  readonly type: string
  readonly priority: number
  readonly status: Status
  readonly idempotencyKey: string
  readonly dependencies: ReadonlyArray<string>
  readonly timeout: number
  readonly maxRetries: number
  readonly backoffSeconds: number
  readonly retries: number
  readonly attempts: number
  readonly createdAt: number
  readonly phase?: Phase
  readonly tenant?: string
  readonly skills: ReadonlyArray<string>
  readonly ticketId?: string
  readonly parentTaskId?: string
  readonly deadlineAt?: number
  /** When a scheduled task becomes ready. */
  readonly availableAt?: number
  readonly claimedBy?: string
  readonly claimedAt?: number
  readonly leaseExpiresAt?: number
  readonly claimants: ReadonlyArray<string>
  readonly finishedAt?: number
  readonly lastError?: string
  readonly signature?: string
  readonly deadLetteredAt?: number
  readonly deadLetterReason?: DeadLetterReason
  readonly enqueuedRevision: number
  readonly lastRevision: number
  readonly checkpointRevision?: number
}

/** The claim of whoever holds the task, or completed it. */
const holderOf = (task: TaskRecord): Lease | null => (isHeld(task) || task.status === 'completed' ? task.lease : null)

const viewOf = (task: TaskRecord): TaskView => {
  const { group, rare, lease } = task
  const held = holderOf(task)
  return {
    id: task.id,
    number: task.number,
    type: group.type,
    priority: task.priority,
    status: task.status,
    idempotencyKey: task.key,
    dependencies: task.dependencies,
    timeout: task.timeout,
    maxRetries: task.maxRetries,
    backoffSeconds: task.backoffSeconds,
    retries: task.retries,
    attempts: task.attempts,
    createdAt: task.enqueuedAt,
    skills: group.skills,
    claimants: rare.claimants ?? [],
    enqueuedRevision: task.enqueuedRevision,
    lastRevision: task.lastRevision,
    ...(group.phase === undefined ? {} : { phase: group.phase }),
    ...(group.tenant === undefined ? {} : { tenant: group.tenant }),
    ...(rare.ticketId === undefined ? {} : { ticketId: rare.ticketId }),
    ...(rare.parentTaskId === undefined ? {} : { parentTaskId: rare.parentTaskId }),
    ...(rare.deadlineAt === undefined ? {} : { deadlineAt: rare.deadlineAt }),
    ...(task.status === 'scheduled' ? { availableAt: task.dueAt } : {}),
    ...(held === null ? {} : { claimedBy: held.agent, claimedAt: held.claimedAt }),
    ...(lease !== null && isHeld(task) ? { leaseExpiresAt: lease.expiresAt } : {}),
    ...(task.finishedAt === 0 ? {} : { finishedAt: task.finishedAt }),
    ...(rare.lastError === undefined ? {} : { lastError: rare.lastError }),
    ...(rare.signature === undefined ? {} : { signature: rare.signature }),
    ...(task.status === 'dead-letter' && rare.deadLetter !== undefined
      ? { deadLetteredAt: rare.deadLetter.at, deadLetterReason: rare.deadLetter.reason }
      : {}),
    ...(rare.checkpointRevision === undefined ? {} : { checkpointRevision: rare.checkpointRevision }),
  }
}

/** By id, or by number as `#42`. */
export const taskOf = (state: QueueState, id: string): TaskView | undefined => {
  const task = findTask(QueueState.tablesOf(state), id)
  return task === undefined ? undefined : viewOf(task)
}

export interface TaskFilter {
  readonly statuses?: ReadonlyArray<Status>
  /** A type pattern: exact, `eng-*` or `*`. */
  readonly type?: string
  readonly phase?: Phase
  readonly priorityMin?: number
  readonly priorityMax?: number
  readonly ticketId?: string
  readonly tenant?: string
  /** Holds, or completed, the task. */
  readonly agent?: string
  /** Part of the id, type, ticket or last error, in any case. */
  readonly text?: string
  /** Failed with exactly this signature. */
  readonly signature?: string
  /** Part of the last error, in any case. */
  readonly error?: string
}

export interface TaskPage {
  readonly tasks: ReadonlyArray<TaskView>
  /** Where the next page starts; `undefined` at the end. */
  readonly next: string | undefined
}

/**
 * Tasks by status in the order of {@link statuses}, then by priority, then by number: pending ones stand in
 * the order in which an agent that takes all of them would be given them.
 *
 * Cost: O(groups · log n) to find the page and O(1) per task on it; filters by ticket and agent have indexes;
 * only `text`, and `agent` among finished tasks, look at tasks that do not match.
 */
export const listTasks = (state: QueueState, filter: TaskFilter, limit: number, after?: string): TaskPage => {
  const tables = QueueState.tablesOf(state)
  const wanted = filter.statuses ?? statuses
  const start = after === undefined ? undefined : parseCursor(after)
  const tasks: Array<TaskView> = []
  for (let s = 0; s < statuses.length; s++) {
    const status = statuses[s] as Status
    if (!wanted.includes(status) || (start !== undefined && s < start.status)) continue
    const from = start !== undefined && s === start.status ? start.rank : -1
    for (const task of walk(tables, filter, status, from)) {
      if (!matches(task, filter)) continue
      if (tasks.length === limit) {
        const last = tasks[tasks.length - 1] as TaskView
        return { tasks, next: cursorAfter(last) }
      }
      tasks.push(viewOf(task))
    }
  }
  return { tasks, next: undefined }
}

/** Where a page begins that goes on behind this task, as the view shows it. */
export const cursorAfter = ({ status, priority, number }: TaskView): string =>
  `${statuses.indexOf(status)}.${(firstRankOf(priority) + number).toString(36)}`

const parseCursor = (cursor: string): { readonly status: number; readonly rank: number } | undefined => {
  const [status, rank] = cursor.split('.')
  const parsed = { status: Number(status), rank: Number.parseInt(rank ?? '', 36) }
  return Number.isInteger(parsed.status) && Number.isSafeInteger(parsed.rank) ? parsed : undefined
}

export const isCursor = (text: string): boolean => parseCursor(text) !== undefined

const matches = (task: TaskRecord, filter: TaskFilter): boolean => {
  const { priorityMin = 1, priorityMax = 10, ticketId, agent, text, signature, error } = filter
  if (task.priority < priorityMin || task.priority > priorityMax) return false
  if (ticketId !== undefined && task.rare.ticketId !== ticketId) return false
  if (agent !== undefined && holderOf(task)?.agent !== agent) return false
  if (signature !== undefined && task.rare.signature !== signature) return false
  if (error !== undefined && task.rare.lastError?.toLowerCase().includes(error.toLowerCase()) !== true) return false
  if (text === undefined) return true
  const needle = text.toLowerCase()
  return [task.id, task.group.type, task.rare.ticketId, task.rare.lastError].some(
    (part) => part?.toLowerCase().includes(needle) === true,
  )
}

/** The tasks of one status whose rank is beyond `from`, over all groups that fit, by rank. */
const walk = function* (tables: Tables, filter: TaskFilter, status: Status, from: number): Generator<TaskRecord> {
  const few = filter.ticketId !== undefined ? (tables.byTicket.get(filter.ticketId) ?? noTasks) : heldByAgent(tables, filter, status)
  if (few !== undefined) {
    const found = [...few].filter((task) => task.status === status && task.rank > from && fits(filter, task.group))
    yield* found.sort((a, b) => a.rank - b.rank)
    return
  }
  // The highest priority comes first, so ranks between these two bounds are those of the priorities asked for.
  const lowest = Math.max(from, firstRankOf(filter.priorityMax ?? 10) - 1)
  const beyond = firstRankOf((filter.priorityMin ?? 1) - 1)
  const cursors: Array<Cursor<TaskRecord>> = []
  for (const group of tables.groups.values()) {
    const list = group.byStatus[status]
    if (list.size > 0 && fits(filter, group)) cursors.push(list.seek(lowest + 1))
  }
  for (;;) {
    let best: Cursor<TaskRecord> | undefined
    for (const cursor of cursors) {
      const { item } = cursor
      if (item !== undefined && item.rank < beyond && (best?.item === undefined || item.rank < best.item.rank)) best = cursor
    }
    const task = best?.item
    if (best === undefined || task === undefined) return
    best.advance()
    yield task
  }
}
const noTasks: ReadonlySet<TaskRecord> = new Set()

const heldByAgent = (tables: Tables, filter: TaskFilter, status: Status): ReadonlySet<TaskRecord> | undefined =>
  filter.agent !== undefined && (status === 'in-progress' || status === 'incomplete')
    ? (tables.leases.get(filter.agent) ?? noTasks)
    : undefined

const fits = (filter: TaskFilter, group: Group): boolean =>
  (filter.type === undefined || matchesType(filter.type, group.type)) &&
  (filter.phase === undefined || filter.phase === group.phase) &&
  (filter.tenant === undefined || filter.tenant === group.tenant)

export interface Depth {
  readonly total: number
  readonly byStatus: Readonly<Record<Status, number>>
  /** Pending tasks by priority band, type, phase and tenant. */
  readonly byPriority: Readonly<Record<Band, number>>
  readonly byType: Readonly<Record<string, number>>
  readonly byPhase: Readonly<Record<string, number>>
  readonly byTenant: Readonly<Record<string, number>>
  /** When the pending task with the lowest number was enqueued. */
  readonly oldestPendingAt: number | undefined
}

export const depthOf = (state: QueueState): Depth => {
  const tables = QueueState.tablesOf(state)
  const byPriority: Record<Band, number> = { CRITICAL: 0, HIGH: 0, MEDIUM: 0, LOW: 0 }
  const byType = new Map<string, number>()
  const byPhase = new Map<string, number>()
  const byTenant = new Map<string, number>()
  let oldest: TaskRecord | undefined
  for (const group of tables.sortedGroups()) {
    const list = group.byStatus.pending
    if (list.size === 0) continue
    const count = (into: Map<string, number>, key: string | undefined): void => {
      if (key !== undefined) into.set(key, (into.get(key) ?? 0) + list.size)
    }
    count(byType, group.type)
    count(byPhase, group.phase)
    count(byTenant, group.tenant)
    let before = 0
    for (let priority = 10; priority >= 1; priority--) {
      const next = firstRankOf(priority - 1)
      const until = list.countBelow(next)
      byPriority[bandOf(priority)] += until - before
      before = until
      const head = list.seek(firstRankOf(priority)).item
      if (head !== undefined && (oldest === undefined || head.number < oldest.number)) oldest = head
    }
  }
  return {
    total: tables.byId.size,
    byStatus: { ...tables.counts },
    byPriority,
    byType: Object.fromEntries(byType),
    byPhase: Object.fromEntries(byPhase),
    byTenant: Object.fromEntries(byTenant),
    oldestPendingAt: oldest?.enqueuedAt,
  }
}

export interface BreakerView {
  readonly state: BreakerState
  readonly failures: number
  readonly lastFailure?: number
  readonly openedAt?: number
  /** When it will turn, or has turned, half-open. */
  readonly halfOpenAt?: number
  /** The task that is testing a half-open breaker. */
  readonly probe?: string
  readonly reason?: string
}

export const breakersOf = (state: QueueState): Readonly<Record<string, BreakerView>> =>
  Object.fromEntries(
    [...QueueState.tablesOf(state).breakers.values()]
      .sort((a, b) => (a.type < b.type ? -1 : 1))
      .map((breaker) => [breaker.type, breakerView(breaker)]),
  )

const breakerView = (breaker: Breaker): BreakerView => ({
  state: breaker.state,
  failures: breaker.failures,
  ...(breaker.lastFailure === 0 ? {} : { lastFailure: breaker.lastFailure }),
  ...(breaker.openedAt === 0 ? {} : { openedAt: breaker.openedAt }),
  ...(breaker.halfOpenAt === 0 ? {} : { halfOpenAt: breaker.halfOpenAt }),
  ...(breaker.probe === null ? {} : { probe: breaker.probe.id }),
  ...(breaker.reason === '' ? {} : { reason: breaker.reason }),
})

/** Dead letters that failed alike. */
export interface FailurePattern {
  readonly signature: string
  readonly type: string
  readonly count: number
  /** The error of one of them. */
  readonly sample: string
  readonly firstAt: number
  readonly lastAt: number
  /** Ids of at most ten of them. */
  readonly tasks: ReadonlyArray<string>
}

/** Most frequent first. */
export const deadLetterPatterns = (state: QueueState, filter: DeadLetterFilter = {}): ReadonlyArray<FailurePattern> => {
  const patterns = new Map<string, { -readonly [K in keyof FailurePattern]: FailurePattern[K] } & { tasks: string[] }>()
  for (const task of deadLettersMatching(QueueState.tablesOf(state), filter, Number.POSITIVE_INFINITY)) {
    const { signature = '', lastError = '', deadLetter } = task.rare
    const at = deadLetter?.at ?? 0
    const key = `${signature} ${task.group.type}`
    const pattern = patterns.get(key)
    if (pattern === undefined) {
      patterns.set(key, { signature, type: task.group.type, count: 1, sample: lastError, firstAt: at, lastAt: at, tasks: [task.id] })
    } else {
      pattern.count++
      pattern.firstAt = Math.min(pattern.firstAt, at)
      pattern.lastAt = Math.max(pattern.lastAt, at)
      if (pattern.tasks.length < 10) pattern.tasks.push(task.id)
    }
  }
  const byName = (a: FailurePattern, b: FailurePattern): number => (`${a.signature} ${a.type}` < `${b.signature} ${b.type}` ? -1 : 1)
  return [...patterns.values()].sort((a, b) => b.count - a.count || byName(a, b))
}

export const deadLetters = (state: QueueState, filter: DeadLetterFilter, max: number): ReadonlyArray<TaskView> =>
  deadLettersMatching(QueueState.tablesOf(state), filter, max).map(viewOf)

/** Agents with a live lease, and the tasks they hold. */
export const agentsOf = (state: QueueState): ReadonlyArray<{ readonly agentId: string; readonly tasks: ReadonlyArray<string> }> =>
  [...QueueState.tablesOf(state).leases]
    .map(([agentId, tasks]) => ({ agentId, tasks: [...tasks].sort((a, b) => a.number - b.number).map((task) => task.id) }))
    .sort((a, b) => (a.agentId < b.agentId ? -1 : 1))

export interface QueueHead {
  readonly queue: string
  /** Of the last event folded, -1 for an empty queue. */
  readonly revision: number
  readonly at: number
  readonly settings: Settings
  /** Why the queue is paused; `null` when it is not. */
  readonly paused: string | null
  readonly unreadable: Readonly<Record<string, number>>
  readonly misfits: number
  readonly lastNumber: number
}

export const headOf = (state: QueueState): QueueHead => {
  const { queue, head } = QueueState.tablesOf(state)
  const { revision, at, settings, paused, unreadable, misfits, lastNumber } = head
  return { queue, revision, at, settings, paused, unreadable, misfits, lastNumber }
}

export const revisionOf = (state: QueueState): number => QueueState.tablesOf(state).head.revision
export const timeOf = (state: QueueState): number => QueueState.tablesOf(state).head.at

/** When the state changes by itself next; `undefined` for never. */
export const nextDue = (state: QueueState): number | undefined => nextDueOf(QueueState.tablesOf(state))

export const pendingCount = (state: QueueState): number => QueueState.tablesOf(state).counts.pending

/** Whether an agent that asks like this would be given something now. */
export const isClaimable = (state: QueueState, request: ClaimRequest): boolean =>
  pickTasks(QueueState.tablesOf(state), request, 1).length > 0

/** The live or retained task that one with this key would duplicate. */
export const duplicateOf = (state: QueueState, idempotencyKey: string): TaskView | undefined => {
  const task = QueueState.tablesOf(state).byKey.get(idempotencyKey)
  return task === undefined ? undefined : viewOf(task)
}

/** The revision of the last event about a task: its history is chained backwards from there. */
export const lastRevisionOf = (state: QueueState, id: string): number | undefined =>
  findTask(QueueState.tablesOf(state), id)?.lastRevision

export { type Band, bands, mayTake }
