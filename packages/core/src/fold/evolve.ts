/**
 * The fold: applies an event to the state. It is total: an event that does not fit the state (only a damaged or
 * foreign log has one) changes nothing except a counter, because a fold that throws would make the log
 * unreadable for ever.
 */
import type { EventOf, QueueEvent } from '../model/events.js'
import { agentRegistered, agentTerminated, speakerOf } from './agents.js'
import { decided, proposed, settled, validationFailed } from './approvals.js'
import { alertCleared, alertRaised } from './alerts.js'
import { taskAmended } from './amend.js'
import { enqueued, imported } from './arrival.js'
import { batchCancelled, batchClosed, batchCreated, batchFinished } from './batches.js'
import { breakerMoved, countFailure, countsAttempts, freeProbe } from './breaker.js'
import { on, rest } from './change.js'
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
import { countTenants, reorder } from '../state/settings-changed.js'
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
  applyTo(tables, event)
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

const applyTo = (tables: Tables, event: QueueEvent): void => {
  switch (event.type) {
    case 'TaskEnqueued':
      return enqueued(tables, event)
    case 'TaskImported':
      return imported(tables, event)
    case 'TaskDue':
      return on(tables, event.data.task, isScheduled, (task) => rest(task, 0, tables.head.at))
    case 'TaskAmended':
      return taskAmended(tables, event)
    case 'Claimed':
      return claimed(tables, event)
    case 'LeaseExtended':
      return leaseExtended(tables, event)
    case 'Released':
      return released(tables, event)
    case 'ClaimReturned':
      return claimReturned(tables, event)
    case 'ClaimExpired':
      return claimExpired(tables, event)
    case 'ClaimRevoked':
      return claimRevoked(tables, event)
    case 'Failed':
      return failed(tables, event)
    case 'RetryScheduled':
      return retryScheduled(tables, event)
    case 'RateLimited':
      return rateLimited(tables, event)
    case 'SlowdownSignalled':
      return slowdownSignalled(tables, event)
    case 'SlowdownEnded':
      return tables.slowdowns.set(event.data.taskType, 0)
    case 'AgentResumed':
      return agentResumed(tables, event.data.agent)
    case 'TaskParked':
      return taskParked(tables, event)
    case 'CallbackReceived':
      return callbackReceived(tables, event)
    case 'ParkTimedOut':
      return parkTimedOut(tables, event)
    case 'MarkedIncomplete':
      return markedIncomplete(tables, event)
    case 'Completed':
      return completed(tables, event)
    case 'DeadLettered':
      return deadLettered(tables, event)
    case 'Requeued':
      return requeued(tables, event)
    case 'Snoozed':
      return snoozed(tables, event)
    case 'SnoozeLapsed':
      return snoozeLapsed(tables, event)
    case 'Escalated':
      return escalated(tables, event)
    case 'RedriveStarted':
      return redriveStarted(tables, event)
    case 'RedriveAdvanced':
      return redriveAdvanced(tables, event)
    case 'RedriveStopped':
      return redriveStopped(tables, event)
    case 'Discarded':
      settled(tables, event.data.task)
      return finish(tables, event.data.task, 'discarded', event.at)
    case 'Cancelled':
      return finish(tables, event.data.task, 'cancelled', event.at)
    case 'TaskErased':
      return taskErased(tables, event)
    case 'ValidationFailed':
      return validationFailed(tables, event)
    case 'SpawnProposed':
    case 'LoopHalted':
      return proposed(tables, event)
    case 'SpawnApproved':
    case 'SpawnRefused':
    case 'GuardianReleased':
      return decided(tables, event)
    case 'BreakerOpened':
    case 'BreakerHalfOpened':
    case 'BreakerClosed':
      return breakerMoved(tables, event)
    case 'TaskBumped':
      return on(tables, event.data.task, isPending, (task) => {
        task.extras = { ...task.extras, bumpedAt: event.at }
      })
    case 'AgentRegistered':
      return agentRegistered(tables, event)
    case 'LimitSet':
      return limitSet(tables, event)
    case 'LimitRemoved':
      return limitRemoved(tables, event)
    case 'LimitOpened':
      return limitOpened(tables, event)
    case 'AgentTerminated':
      agentTerminated(tables, event)
      return agentResumed(tables, event.data.agent)
    case 'QueueConfigured': {
      const head = tables.head
      const before = head.settings
      head.settings = patchSettings(before, event.data.patch)
      reorder(tables, before)
      countTenants(tables)
      tables.ready.wakeAll()
      return
    }
    case 'QueuePaused':
      tables.head.paused = event.data.reason
      return
    case 'QueueResumed':
      tables.head.paused = null
      tables.ready.wakeAll()
      return
    case 'ScheduleSet':
      return scheduleSet(tables, event)
    case 'ScheduleRemoved':
      return scheduleRemoved(tables, event)
    case 'ScheduleRan':
    case 'ScheduleSkipped':
    case 'ScheduleHeld':
      return scheduleCame(tables, event)
    case 'BatchCreated':
      return batchCreated(tables, event)
    case 'BatchClosed':
      return batchClosed(tables, event)
    case 'BatchCancelled':
      return batchCancelled(tables, event)
    case 'BatchFinished':
      return batchFinished(tables, event)
    case 'AlertRaised':
      return alertRaised(tables, event)
    case 'AlertCleared':
      return alertCleared(tables, event)
    case 'QueueDeleted':
      return queueDeleted(tables, event)
  }
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
    if (tables.byKey.has(dead.key)) {
      tables.head.misfits++
      return
    }
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
  const { finished, approvals, schedules } = tables
  tables.agents.clear()
  tables.slowdowns.clear()
  tables.sleepers.clear()
  for (const id of [...approvals.keys()]) closeApproval(tables, id)
  for (let task = finished.first(); task !== undefined; task = finished.first()) tables.evict(task)
  tables.batches.clear()
  tables.limits.clear()
  tables.breakers.clear()
  for (const { name } of schedules.all()) schedules.remove(name)
  tables.alerts.forgetAll()
}

const queueDeleted = (tables: Tables, event: EventOf<'QueueDeleted'>): void => {
  const { head } = tables
  if (tables.finished.size < tables.byId.size) {
    head.misfits++
    return
  }
  forgetAll(tables)
  const before = head.settings
  head.settings = settingsDefault
  reorder(tables, before)
  countTenants(tables)
  head.paused = null
  head.redrive = null
  head.deleted = event.data.reason
}
