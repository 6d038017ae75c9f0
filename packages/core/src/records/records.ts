/** The records of a queue's state, and functions of their fields. The indexes are in `tables.ts`. */
import { type DeadLetterReason, expiryCauses } from '../model/events.js'
import type { DeadLetterFilter } from '../model/commands.js'
import type { Group } from './group.js'
import type { Undoable } from '../structures/undo-log.js'
import type { BreakerSettings, Settings } from '../model/settings.js'
import type { Pool } from '../ready/fair-share.js'
import type { ShapeTurn } from '../ready/shape-turn.js'
import type { TenantGroups } from '../ready/tenant-groups.js'
import type { StatusList } from '../state/status-lists.js'
import type { OnTimeout, Status } from '../model/task.js'
import type { ExtraFields } from '../model/task-fields.js'
import type { Unreadable } from '../model/upcast.js'

/** One claim of a task: who holds it, and until when (milliseconds). */
export interface Lease {
  readonly agent: string
  readonly token: number
  readonly claimedAt: number
  readonly expiresAt: number
  /** Length of the lease in milliseconds, from the claim or from the last heartbeat. */
  readonly durationMs: number
  /** The breaker's epoch at the claim. A result from an earlier epoch does not move the breaker. */
  readonly epoch: number
  /** Whether this is the probe of a half-open breaker. */
  readonly probe: boolean
  /** How the claim ended without success; `null` if it has not. */
  readonly end: LeaseEnd | null
}
export const leaseEnds = [...expiryCauses, 'failed', 'released', 'cancelled', 'parked', 'rate-limited'] as const
export type LeaseEnd = (typeof leaseEnds)[number]

/** Whether the task's last claim is a live lease (INV-1). */
export const isHeld = (task: TaskRecord): boolean => task.status === 'in-progress' || task.status === 'incomplete'

/** The claim of the agent that holds the task or has completed it. */
export const holderOf = (task: TaskRecord): Lease | null => (isHeld(task) || task.status === 'completed' ? task.lease : null)

/** Whether the task was moved to the front of its queue (TQM-BUMP). */
export const isBumped = ({ extras }: TaskRecord): boolean => extras.bumpedAt !== undefined

export interface Escalation {
  readonly at: number
  readonly reviewer: string
  readonly reason: string
}

/** A redrive, under way or stopped: dead letters are sent back one after the other. */
export interface Redrive {
  readonly filter: DeadLetterFilter
  readonly perMinute: number
  readonly reviewer: string
  readonly reason: string
  readonly startedAt: number
  readonly retried: number
  /** When the next one is due; 0 when it has stopped. */
  readonly nextAt: number
  /** The rank of the last dead letter that was sent back, or one before that of another that was amended to a higher priority since. Those with higher ranks are still to come. */
  readonly after: number
  /** By type: the breaker's epoch when the redrive sent back the first task of the type. */
  readonly epochs: Readonly<Record<string, number>>
  readonly stopped?: { readonly at: number; readonly cause: string; readonly taskType?: string }
}

/** What a task waits for, and the callbacks that it got. Only of a task that was ever parked. */
export interface Parking {
  /** The callback's key. The task waits for it while its status is `waiting`. */
  readonly key: string
  readonly onTimeout: OnTimeout
  /** Keys that were answered, newest last, so that a repeated callback gets the same answer. At most {@link answeredMax}. */
  readonly answered: ReadonlyArray<string>
  /** The last callback, until the task is parked again. The next claims get its payload, which is in the event of this revision. */
  readonly callback?: { readonly key: string; readonly at: number; readonly revision: number }
}
export const answeredMax = 16

/** The last failure of each agent with a task, the newest last. */
export type Failers = ReadonlyArray<readonly [agent: string, at: number]>

/** Fields that most tasks do not have. The object is replaced as a whole and never changed. */
export interface TaskExtras extends ExtraFields {
  /** Agents that released the task and are barred from it (GB-02). */
  readonly claimants?: ReadonlyArray<string>
  /** When the task was bumped. Removed when its claim has ended. */
  readonly bumpedAt?: number
  /** Agents that failed the task, or let its lease expire, and when: see `assignment.ts`. */
  readonly failers?: Failers
  /** The revision of the event that last amended the payload. It holds the complete content. */
  readonly contentRevision?: number
  /** Revisions of the newest checkpoint, and of the newest progress of the last claim. */
  readonly checkpointRevision?: number
  readonly progressRevision?: number
  readonly lastError?: string
  /** Only of a CRITICAL task: when it last became ready, or CRITICAL while it was ready. */
  readonly readySince?: number
  readonly signature?: string
  readonly deadLetter?: { readonly at: number; readonly reason: DeadLetterReason }
  readonly parking?: Parking
  /** Who wants the dead letter to be sent back at `delayedUntil`, since when, and who escalated it. */
  readonly snooze?: { readonly at: number; readonly reviewer: string; readonly reason: string }
  readonly escalated?: Escalation
  /** How often it met a rate limit since the last requeue. */
  readonly rateLimits?: number
}
export const noExtras: TaskExtras = {}

export interface TaskRecord extends Undoable {
  readonly number: number
  readonly id: string
  readonly key: string
  readonly group: Group
  priority: number
  readonly timeout: number
  readonly maxRetries: number
  readonly backoffSeconds: number
  readonly enqueuedAt: number
  /** The revision of the event that added the task. It holds the content, unless the payload was amended: see {@link contentRevisionOf}. */
  readonly enqueuedRevision: number
  readonly dependencies: ReadonlyArray<string>
  status: Status
  retries: number
  attempts: number
  /** Number of dependencies that are not completed yet, plus 1 while another task comes first in its line ({@link Tables.lines}). */
  missing: number
  /** The unfinished tasks that depend on this one, and their number. */
  dependents: Array<TaskRecord>
  blocking: number
  /** The last claim. It is a live lease while the task {@link isHeld}. */
  lease: Lease | null
  /** When a scheduled task's delay, a waiting task's wait or a dead letter's snooze ends; 0 for all other tasks. */
  delayedUntil: number
  finishedAt: number
  /** The revision of the last event about this task. */
  lastRevision: number
  extras: TaskExtras
}

/** One list for each status and priority, by number. The index is the priority. */
export type ListsByStatus = Readonly<Record<Status, ReadonlyArray<StatusList>>>

/** What a tenant has had of the leases of a pool (TQM-ASSIGN-004): see `ready/fair-share.ts`. */
export interface Account extends Undoable {
  /** The tenant; `undefined` for the tasks without a tenant. */
  readonly name: string | undefined
  readonly pool: Pool
  /** Its virtual time, which grows by 1/weight with each lease. The tenant with the least is served next. */
  turn: number
  /** The pool's number of its last lease ({@link Pool.leases}), 0 for none. */
  lastLease: number
  /** Number of its groups with tasks, and of those with ready tasks. */
  groupCount: number
  readyGroups: number
  /** Its entries in the kept shapes of claims. */
  turns: ReadonlyArray<ShapeTurn>
}

/** A tenant's account in the pool of all tasks. */
export interface TenantShare extends Account {
  /** Its groups with tasks. */
  groups: TenantGroups
}

export type BreakerState = 'closed' | 'open' | 'half-open'
export interface Breaker extends Undoable {
  readonly type: string
  state: BreakerState
  failures: number
  lastFailure: number
  openedAt: number
  /** Open: when the breaker turns half-open by itself; 0 for never (opened by hand). Half-open: since when. */
  halfOpenAt: number
  /** Grows each time the breaker opens. */
  epoch: number
  /** The task that tests the half-open breaker. */
  probe: TaskRecord | null
  reason: string
}

/** An event that this version could not read and skipped. */
export interface UnreadableEvent {
  readonly revision: number
  readonly type: string
  /** The version of its data; `null` if it has none. */
  readonly version: number | null
  readonly why: Unreadable['why']
  /** The version of Daybook that can read this event and all earlier ones that could not be read, according to their writers. */
  readonly needs: string | null
}

export interface Head extends Undoable {
  /** Revision of the last event folded, -1 before the first. */
  revision: number
  /** Time of the last event. */
  at: number
  /** Tasks that finished at or before this time are no longer known, whatever the retention is now. It never decreases. */
  forgottenUntil: number
  lastNumber: number
  lastToken: number
  /** Whether there ever was a task with a tenant. */
  hasTenants: boolean
  settings: Settings
  paused: string | null
  /** The last redrive, under way or stopped. */
  redrive: Redrive | null
  /** Why the queue was deleted; `null` after the next event. */
  deleted: string | null
  /** Number of events that this version could not read, by `why: type`. */
  unreadable: Readonly<Record<string, number>>
  lastUnreadable: UnreadableEvent | null
  /** Number of events that did not fit the state, such as a completion of an unknown task. */
  misfits: number
}

/** The revision of the event that holds the task's content. */
export const contentRevisionOf = ({ extras, enqueuedRevision }: TaskRecord): number => extras.contentRevision ?? enqueuedRevision

export const byNumber = (a: TaskRecord, b: TaskRecord): number => a.number - b.number

/** Orders the tasks of a group: by priority, then first in, first out. Exact in a double: 10 bands of 2^44 tasks each. */
export const rankOf = ({ priority, number }: Pick<TaskRecord, 'priority' | 'number'>): number => (10 - priority) * 2 ** 44 + number
/** The first rank of a priority's tasks; those of all higher priorities come before it. */
export const firstRankOf = (priority: number): number => rankOf({ priority, number: 0 })

/** Dead letters, cancelled and discarded tasks do not block a new task (LK-05). */
export const blocksDuplicates = (status: Status): boolean =>
  status !== 'dead-letter' && status !== 'cancelled' && status !== 'discarded'

export const newBreaker = (type: string): Breaker => ({
  savedFor: 0,
  type,
  state: 'closed',
  failures: 0,
  lastFailure: 0,
  openedAt: 0,
  halfOpenAt: 0,
  epoch: 0,
  probe: null,
  reason: '',
})

/** The fields that a new record is given. The others begin alike in all records. */
export type TaskInit = Omit<TaskRecord, 'savedFor' | 'attempts' | 'dependents' | 'blocking' | 'lease' | 'lastRevision'>

/** Every record is made here, so that all have the same shape. */
export const newTaskRecord = (init: TaskInit): TaskRecord => ({
  savedFor: 0,
  number: init.number,
  id: init.id,
  key: init.key,
  group: init.group,
  priority: init.priority,
  timeout: init.timeout,
  maxRetries: init.maxRetries,
  backoffSeconds: init.backoffSeconds,
  enqueuedAt: init.enqueuedAt,
  enqueuedRevision: init.enqueuedRevision,
  dependencies: init.dependencies,
  status: init.status,
  retries: init.retries,
  attempts: 0,
  missing: init.missing,
  dependents: noTasks,
  blocking: 0,
  lease: null,
  delayedUntil: init.delayedUntil,
  finishedAt: init.finishedAt,
  lastRevision: init.enqueuedRevision,
  extras: init.extras,
})
/** Shared by all tasks that nothing depends on. It is replaced before the first dependent is added. */
export const noTasks: Array<TaskRecord> = []

/** How many failures a closed breaker counts at `at`: it forgets them once the last is old enough (LK-14). */
export const failuresAt = (breaker: Breaker, settings: BreakerSettings, at: number): number =>
  breaker.lastFailure + settings.cooldownSeconds * 1_000 < at ? 0 : breaker.failures
