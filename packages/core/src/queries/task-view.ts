/** A task as it is shown: a copy that does not change with the state. */
import { shownStatus } from '../state/capacity.js'
import { type Attempt, attemptOf } from '../model/attempts.js'
import type { DeadLetterReason } from '../model/events.js'
import type { Settings } from '../model/settings.js'
import { contentRevisionOf, type Escalation, holderOf, isBumped, isHeld, type Parking, type TaskRecord } from '../records/records.js'
import type { Tables } from '../state/tables.js'
import { isFinal, type OnTimeout, type Status } from '../model/task.js'
import { type ShownFields, shownInExtras, shownInGroup } from '../model/task-fields.js'
import { copierOf } from '../structures/unrolled.js'

/** What the queue knows of a task, besides its content. Times are milliseconds since 1970. */
export interface TaskView extends Attempt, ShownFields {
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
  readonly skills: ReadonlyArray<string>
  /** The task was bumped: it is served before all others, or is being worked on. */
  readonly priorityBoosted?: true
  /** When a scheduled task becomes ready. */
  readonly availableAt?: number
  /** What a waiting task waits for, and until when. */
  readonly parked?: { readonly callbackKey: string; readonly until: number; readonly onTimeout: OnTimeout }
  /** The last callback that the task got, until it is parked again, and the revision of the event with its payload. */
  readonly callback?: { readonly key: string; readonly at: number; readonly revision: number }
  readonly claimedBy?: string
  readonly claimedAt?: number
  readonly leaseExpiresAt?: number
  readonly claimants: ReadonlyArray<string>
  readonly finishedAt?: number
  readonly lastError?: string
  /** How often it met a rate limit since the last requeue. */
  readonly rateLimits?: number
  readonly signature?: string
  /** When a dead letter is to be sent back; and who escalated it. */
  readonly snoozedUntil?: number
  readonly escalated?: Escalation
  readonly deadLetteredAt?: number
  readonly deadLetterReason?: DeadLetterReason
  /** How many tasks cannot run before a dead letter is finished. Missing if there are none, and in the views of `walkTasks`. */
  readonly holdsUp?: HoldsUp
  readonly enqueuedRevision: number
  /** The revision of the event that holds the content: the event that added the task, or the last that amended the payload. */
  readonly contentRevision: number
  readonly lastRevision: number
  /** Revisions of the newest checkpoint, and of the newest progress of the last claim. */
  readonly checkpointRevision?: number
  readonly progressRevision?: number
}

/** Tasks that cannot run before a dead letter is finished. A task may be counted in both. */
export interface HoldsUp {
  /** Number of unfinished tasks that depend on it directly. */
  readonly dependents: number
  /** Number of unfinished tasks after it with the same ordering key. */
  readonly inLine: number
}

const copyGroup = copierOf(shownInGroup)
const copyExtras = copierOf(shownInExtras)
const shownFieldsOf = ({ group, extras }: TaskRecord): ShownFields => {
  const shown: { -readonly [K in keyof ShownFields]: ShownFields[K] } = {}
  copyGroup(group, shown)
  copyExtras(extras, shown)
  return shown
}

const parkingOf = ({ status, delayedUntil }: TaskRecord, { key, onTimeout, callback }: Parking): Pick<TaskView, 'parked' | 'callback'> => ({
  ...(status === 'waiting' ? { parked: { callbackKey: key, until: delayedUntil, onTimeout } } : {}),
  ...(callback === undefined ? {} : { callback }),
})

/** The view of a record. `status`: the shown status, if it differs from the record's (see `capacity.ts`). */
export const viewOf = (task: TaskRecord, { maxAttempts }: Pick<Settings, 'maxAttempts'>, status = task.status): TaskView => {
  const { group, extras, lease } = task
  const held = holderOf(task)
  return {
    id: task.id,
    number: task.number,
    type: group.type,
    priority: task.priority,
    status,
    idempotencyKey: task.key,
    dependencies: task.dependencies,
    timeout: task.timeout,
    maxRetries: task.maxRetries,
    backoffSeconds: task.backoffSeconds,
    retries: task.retries,
    attempts: task.attempts,
    ...attemptOf(task, maxAttempts),
    createdAt: task.enqueuedAt,
    skills: group.skills,
    claimants: extras.claimants ?? [],
    enqueuedRevision: task.enqueuedRevision,
    contentRevision: contentRevisionOf(task),
    lastRevision: task.lastRevision,
    ...shownFieldsOf(task),
    ...(isBumped(task) && !isFinal(task.status) ? { priorityBoosted: true as const } : {}),
    ...(task.status === 'scheduled' ? { availableAt: task.delayedUntil } : {}),
    ...(extras.parking === undefined ? {} : parkingOf(task, extras.parking)),
    ...(held === null ? {} : { claimedBy: held.agent, claimedAt: held.claimedAt }),
    ...(lease !== null && isHeld(task) ? { leaseExpiresAt: lease.expiresAt } : {}),
    ...(task.finishedAt === 0 ? {} : { finishedAt: task.finishedAt }),
    ...(extras.lastError === undefined ? {} : { lastError: extras.lastError }),
    ...(extras.rateLimits === undefined ? {} : { rateLimits: extras.rateLimits }),
    ...(extras.signature === undefined ? {} : { signature: extras.signature }),
    ...(task.status === 'dead-letter' && extras.snooze !== undefined ? { snoozedUntil: task.delayedUntil } : {}),
    ...(task.status === 'dead-letter' && extras.escalated !== undefined ? { escalated: extras.escalated } : {}),
    ...(task.status === 'dead-letter' && extras.deadLetter !== undefined
      ? { deadLetteredAt: extras.deadLetter.at, deadLetterReason: extras.deadLetter.reason }
      : {}),
    ...(extras.checkpointRevision === undefined ? {} : { checkpointRevision: extras.checkpointRevision }),
    ...(extras.progressRevision === undefined ? {} : { progressRevision: extras.progressRevision }),
  }
}

/** The view of a task as it is shown now. */
export const shownOf = (tables: Tables, task: TaskRecord): TaskView => {
  const view = viewOf(task, tables.head.settings, shownStatus(tables, task.status))
  const holdsUp = task.status === 'dead-letter' ? holdsUpOf(tables, task) : undefined
  return holdsUp === undefined ? view : { ...view, holdsUp }
}

/** Only the first of a line holds up the others. Cost: O(1). */
const holdsUpOf = ({ lines }: Tables, task: TaskRecord): HoldsUp | undefined => {
  const { orderingKey } = task.extras
  const line = orderingKey === undefined ? undefined : lines.get(orderingKey)
  const inLine = line?.first() === task ? line.size - 1 : 0
  return task.blocking + inLine === 0 ? undefined : { dependents: task.blocking, inLine }
}
