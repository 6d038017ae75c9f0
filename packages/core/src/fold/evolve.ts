/**
 * The fold: applies an event to the state. It is total: an event that does not fit the state (only a damaged or
 * foreign log has one) changes nothing except a counter, because a fold that throws would make the log
 * unreadable for ever.
 */
import type { EventOf, EventType, QueueEvent } from '../model/events.js'
import { agentRegistered, agentTerminated, speakerOf } from './agents.js'
import { decided, proposed, settled, validationFailed } from './approvals.js'
import { alertCleared, alertRaised } from './alerts.js'
import { taskAmended } from './amend.js'
import { enqueued, imported } from './arrival.js'
import { batchCancelled, batchClosed, batchCreated, batchFinished } from './batches.js'
import { breakerMoved, countFailure, countsAttempts, freeProbe } from './breaker.js'
import { misfit, on, rest } from './change.js'
import { escalated, redriveStarted, redriveStopped, redriveAdvanced, snoozed, snoozeLapsed } from './review.js'
import { agentResumed, rateLimited, slowdownSignalled } from './rate-limit.js'
import { callbackReceived, parkTimedOut, taskParked } from './park.js'
import { claimed, claimExpired, claimReturned, claimRevoked, completed, failed, leaseExtended, markedIncomplete, released } from './claim.js'
import { scheduleCame, scheduleRemoved, scheduleSet, wakeSchedule } from './schedules.js'
import { limitOpened, limitRemoved, limitSet, makeRoom } from './limit.js'
import { freeKey, passTime } from '../state/retention.js'
import { patchSettings, settingsDefault } from '../model/settings.js'
import { isHeld, noTasks } from '../records/records.js'
import { closeApproval } from '../state/approvals.js'
import { stopWaiting } from '../state/dependents.js'
import { changeSettings } from '../state/settings-changed.js'
import type { Tables } from '../state/tables.js'
import { isFinal, type Status } from '../model/task.js'
import type { Unreadable } from '../model/upcast.js'
import { isNewer } from '../model/version.js'

/** The largest number of tasks that one event moves to another lane. Decisions look at the rest one by one. */
const placedMax = 64

export const apply = (tables: Tables, event: QueueEvent): void => {
  const head = tables.touchHead()
  head.revision++
  if (event.at > head.at) head.at = event.at
  const { misfits } = head
  passTime(tables)
  tables.limits.passTime()
  tables.ready.settle(placedMax)
  // The fold of this event's type. TypeScript cannot relate the two unions.
  const fold = folds[event.type] as (tables: Tables, event: QueueEvent) => void
  fold(tables, event)
  if (tables.schedules.isAnyWaiting) wakeSchedule(tables, event)
  if (tables.agents.size > 0 && head.misfits === misfits) heard(tables, event)
  // Any event after the deletion creates the queue again.
  if (event.type !== 'QueueDeleted' && head.misfits === misfits) head.deleted = null
}

/** A sign of life of a registered agent. */
const heard = (tables: Tables, event: QueueEvent): void => {
  const agent = speakerOf(event)
  if (agent !== undefined) tables.agents.saw(agent, event.at)
}

/** The events up to this revision are not there: a part of a log is folded. */
export const applyGap = (tables: Tables, revision: number): void => {
  const head = tables.touchHead()
  if (revision > head.revision) head.revision = revision
}

/** An event that cannot be read still takes its place in the log. */
export const applyUnreadable = (tables: Tables, type: string, event: Unreadable): void => {
  const head = tables.touchHead()
  head.revision++
  const key = `${event.why}: ${type}`
  head.unreadable = { ...head.unreadable, [key]: (head.unreadable[key] ?? 0) + 1 }
  const { why, version = null, needs = null } = event
  const before = head.lastUnreadable?.needs ?? null
  const needed = needs === null || (before !== null && isNewer(before, needs)) ? before : needs
  head.lastUnreadable = { revision: head.revision, type, version, why, needs: needed }
}

const isScheduled = (status: Status): boolean => status === 'scheduled'
const isPending = (status: Status): boolean => status === 'pending'
const isDead = (status: Status): boolean => status === 'dead-letter'
const isUnfinished = (status: Status): boolean => !isFinal(status)

const retryScheduled = (tables: Tables, event: EventOf<'RetryScheduled'>): void =>
  on(tables, event.data.task, isPending, (task) => {
    task.status = 'scheduled'
    task.delayedUntil = event.data.availableAt
  })

const taskBumped = (tables: Tables, { at, data }: EventOf<'TaskBumped'>): void =>
  on(tables, data.task, isPending, (task) => {
    task.extras = { ...task.extras, bumpedAt: at }
  })

const deadLettered = (tables: Tables, event: EventOf<'DeadLettered'>): void => {
  const { task: id, reason } = event.data
  on(tables, id, isPending, (task) => {
    task.status = 'dead-letter'
    task.delayedUntil = 0
    task.extras = { ...task.extras, deadLetter: { at: event.at, reason } }
    if (task.lease !== null && !countsAttempts(tables, task)) countFailure(tables, task, task.lease)
  })
}

const finish = (tables: Tables, id: string, status: 'discarded' | 'cancelled', at: number): void => {
  // Looked up before it is finished: after that, a record would have to be made from its bytes.
  const task = tables.byId.get(id)
  on(tables, id, status === 'discarded' ? isDead : isUnfinished, (found) => {
    if (isHeld(found) && found.lease !== null) {
      found.lease = { ...found.lease, end: 'cancelled' }
      freeProbe(tables, found)
    }
    found.status = status
    found.finishedAt = at
    found.delayedUntil = 0
    found.missing = 0
    found.dependents = noTasks
    found.blocking = 0
    stopWaiting(tables, found)
  })
  if (task !== undefined && task.lastRevision === tables.head.revision) makeRoom(tables, task, at)
}

/** The erasure is one of the task's events, and changes nothing else. An evicted task has no record to change. */
const taskErased = (tables: Tables, event: EventOf<'TaskErased'>): void => {
  if (tables.byId.get(event.data.task) !== undefined) on(tables, event.data.task, isFinal, () => undefined)
}

const requeued = (tables: Tables, event: EventOf<'Requeued'>): void => {
  const dead = tables.byId.get(event.data.task)
  if (dead !== undefined) {
    freeKey(tables, dead.key)
    if (tables.byKey.has(dead.key)) return misfit(tables)
  }
  settled(tables, event.data.task)
  on(tables, event.data.task, isDead, (task) => {
    task.retries = 0
    task.attempts = 0
    const { claimants: _, deadLetter: __, failers: ___, rateLimits: ____, snooze: _____, escalated: ______, bumpedAt: _______, ...kept } = task.extras
    task.extras = kept
    rest(task, 0, event.at)
  })
}

/** Forgets everything but the settings. All tasks must be finished. */
const forgetAll = (tables: Tables): void => {
  const { finished, approvals, schedules, alerts } = tables
  tables.agents.byName.clear()
  tables.slowdowns.clear()
  tables.sleepers.clear()
  for (const id of [...approvals.keys()]) closeApproval(tables, id)
  for (let task = finished.first(); task !== undefined; task = finished.first()) tables.evict(task)
  tables.batches.clear()
  tables.limits.clear()
  tables.breakers.clear()
  schedules.clear()
  alerts.raised.clear()
  alerts.failures.clear()
}

const queueDeleted = (tables: Tables, event: EventOf<'QueueDeleted'>): void => {
  const { head } = tables
  if (tables.finished.size < tables.byId.size) return misfit(tables)
  forgetAll(tables)
  changeSettings(tables, settingsDefault)
  head.paused = null
  head.redrive = null
  head.deleted = event.data.reason
}

const folds: { readonly [T in EventType]: (tables: Tables, event: EventOf<T>) => void } = {
  TaskEnqueued: enqueued,
  TaskImported: imported,
  TaskAmended: taskAmended,
  TaskDue: (tables, { data }) => on(tables, data.task, isScheduled, (task) => rest(task, 0, tables.head.at)),
  Claimed: claimed,
  LeaseExtended: leaseExtended,
  Released: released,
  ClaimReturned: claimReturned,
  ClaimExpired: claimExpired,
  ClaimRevoked: claimRevoked,
  Failed: failed,
  RetryScheduled: retryScheduled,
  RateLimited: rateLimited,
  SlowdownSignalled: slowdownSignalled,
  SlowdownEnded: ({ slowdowns }, { data }) => slowdowns.set(data.taskType, 0),
  AgentResumed: (tables, { data }) => agentResumed(tables, data.agent),
  TaskParked: taskParked,
  CallbackReceived: callbackReceived,
  ParkTimedOut: parkTimedOut,
  MarkedIncomplete: markedIncomplete,
  Completed: completed,
  DeadLettered: deadLettered,
  Requeued: requeued,
  Snoozed: snoozed,
  SnoozeLapsed: snoozeLapsed,
  Escalated: escalated,
  RedriveStarted: redriveStarted,
  RedriveAdvanced: redriveAdvanced,
  RedriveStopped: redriveStopped,
  Discarded: (tables, { at, data }) => {
    settled(tables, data.task)
    finish(tables, data.task, 'discarded', at)
  },
  ValidationFailed: validationFailed,
  SpawnProposed: proposed,
  LoopHalted: proposed,
  SpawnApproved: decided,
  SpawnRefused: decided,
  GuardianReleased: decided,
  Cancelled: (tables, { at, data }) => finish(tables, data.task, 'cancelled', at),
  TaskErased: taskErased,
  BreakerOpened: breakerMoved,
  BreakerHalfOpened: breakerMoved,
  BreakerClosed: breakerMoved,
  ScheduleSet: scheduleSet,
  ScheduleRemoved: scheduleRemoved,
  ScheduleRan: scheduleCame,
  ScheduleSkipped: scheduleCame,
  ScheduleHeld: scheduleCame,
  BatchCreated: batchCreated,
  BatchClosed: batchClosed,
  BatchCancelled: batchCancelled,
  BatchFinished: batchFinished,
  TaskBumped: taskBumped,
  AgentRegistered: agentRegistered,
  AlertRaised: alertRaised,
  AlertCleared: alertCleared,
  LimitSet: limitSet,
  LimitRemoved: limitRemoved,
  LimitOpened: limitOpened,
  AgentTerminated: (tables, event) => {
    agentTerminated(tables, event)
    agentResumed(tables, event.data.agent)
  },
  QueueConfigured: (tables, { data }) => {
    changeSettings(tables, patchSettings(tables.head.settings, data.patch))
    tables.ready.wakeAll()
  },
  QueuePaused: ({ head }, { data }) => void (head.paused = data.reason),
  QueueResumed: ({ head, ready }) => {
    head.paused = null
    ready.wakeAll()
  },
  QueueDeleted: queueDeleted,
}
