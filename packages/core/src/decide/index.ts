/** The decider: returns the events of a command in a state, or why it is refused. Changes nothing. */
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import type { Command, CommandOf, Envelope } from '../model/commands.js'
import type { QueueEvent } from '../model/events.js'
import { QueueState } from '../fold/queue-state.js'
import { reject, type Rejection } from '../model/rejections.js'
import { forgotten, isBatchKnown } from '../state/retention.js'
import { toInstant } from '../model/scalars.js'
import { patchSettings } from '../model/settings.js'
import type { Tables } from '../state/tables.js'
import { decideRegisterAgent, decideTerminateAgent } from './agents.js'
import { decideAmend } from './amend.js'
import { decideApprove, decideRefuse } from './approvals.js'
import { decideRestart } from './restart.js'
import { decideCancelBatch, decideCloseBatch, decideCreateBatch } from './batches.js'
import { withBatchEnds } from './batch-ends.js'
import { decideBump } from './bump.js'
import { decideCancel, decideCancelAll } from './cancel.js'
import { decideClaim } from './claim.js'
import { decideDiscard, decideEscalate, decideRetry, decideSnooze } from './dead-letters.js'
import { decideRedrive, decideStopRedrive } from './redrive.js'
import { decideDeleteQueue } from './delete-queue.js'
import { decideEnqueue, decideImport } from './enqueue.js'
import { decideErase } from './erase.js'
import { decideCallback, decidePark } from './park.js'
import { decideChangeSchedule, decideCreateSchedule, decideRemoveSchedule } from './schedules.js'
import { decideComplete, decideFail, decideHeartbeat, decideRelease } from './settle.js'
import { decideTick } from './tick.js'
import { decideRemoveLimit, decideSetLimit } from './limit.js'

/** All events of a command, to be appended together, or the reason why there are none (INV-16). */
export type Decision = E.Either<Rejection, ReadonlyArray<QueueEvent>>

export const decide =
  (command: Command, envelope: Envelope) =>
  (state: QueueState): Decision => {
    const tables = QueueState.tablesOf(state)
    // Time never runs backward, whatever the clock does (INV-14), and is always an instant that an event can carry.
    const at = envelope.at >= tables.head.at ? toInstant(envelope.at) : tables.head.at
    const decision = decideOn(command, tables, at === envelope.at ? envelope : { ...envelope, at })
    return E.isLeft(decision) ? decision : E.right(withBatchEnds(decision.right, tables, at, command.type === 'Tick'))
  }

const decideOn = (command: Command, tables: Tables, envelope: Envelope): Decision => {
  const { at } = envelope
  switch (command.type) {
    case 'Enqueue':
      return decideEnqueue(command, tables, envelope)
    case 'Import':
      return decideImport(command, tables, envelope)
    case 'Claim':
      return decideClaim(command, tables, envelope)
    case 'Heartbeat':
      return decideHeartbeat(command, tables, envelope)
    case 'Complete':
      return decideComplete(command, tables, envelope)
    case 'Fail':
      return decideFail(command, tables, envelope)
    case 'Release':
      return decideRelease(command, tables, envelope)
    case 'Park':
      return decidePark(command, tables, envelope)
    case 'Callback':
      return decideCallback(command, tables, envelope)
    case 'Cancel':
      return decideCancel(command, tables, envelope)
    case 'CancelAll':
      return decideCancelAll(command, tables, envelope)
    case 'Retry':
      return decideRetry(command, tables, envelope)
    case 'Discard':
      return decideDiscard(command, tables, envelope)
    case 'Approve':
      return decideApprove(command, tables, envelope)
    case 'Refuse':
      return decideRefuse(command, tables, envelope)
    case 'Snooze':
      return decideSnooze(command, tables, envelope)
    case 'Escalate':
      return decideEscalate(command, tables, envelope)
    case 'Redrive':
      return decideRedrive(command, tables, envelope)
    case 'StopRedrive':
      return decideStopRedrive(command, tables, envelope)
    case 'OpenBreaker':
      return E.right([
        { type: 'BreakerOpened', at, data: { taskType: command.taskType, cause: 'manual', reason: command.reason } },
      ])
    case 'CloseBreaker':
      return decideCloseBreaker(command, tables, at)
    case 'Restart':
      return decideRestart(command, tables, envelope)
    case 'AmendTask':
      return decideAmend(command, tables, envelope)
    case 'Erase':
      return decideErase(command, tables, envelope)
    case 'Bump':
      return decideBump(command, tables, envelope)
    case 'RegisterAgent':
      return decideRegisterAgent(command, tables, envelope)
    case 'TerminateAgent':
      return decideTerminateAgent(command, tables, envelope)
    case 'Configure':
      return decideConfigure(command, tables, at)
    case 'SetLimit':
      return decideSetLimit(command, tables, at)
    case 'RemoveLimit':
      return decideRemoveLimit(command, tables, at)
    case 'Pause':
      return E.right(tables.head.paused === null ? [{ type: 'QueuePaused', at, data: { reason: command.reason } }] : [])
    case 'Resume':
      return E.right(tables.head.paused === null ? [] : [{ type: 'QueueResumed', at, data: { reason: command.reason } }])
    case 'DeleteQueue':
      return decideDeleteQueue(command, tables, envelope)
    case 'CreateSchedule':
      return decideCreateSchedule(command, tables, envelope)
    case 'ChangeSchedule':
      return decideChangeSchedule(command, tables, envelope)
    case 'RemoveSchedule':
      return decideRemoveSchedule(command, tables, envelope)
    case 'CreateBatch':
      return decideCreateBatch(command, tables, envelope)
    case 'CloseBatch':
      return decideCloseBatch(command, tables, envelope)
    case 'CancelBatch':
      return decideCancelBatch(command, tables, envelope)
    case 'Tick':
      return decideTick(command, tables, envelope)
  }
}

const decideCloseBreaker = (command: CommandOf<'CloseBreaker'>, tables: Tables, at: number): Decision => {
  const { taskType, reason } = command
  if ((tables.breakers.get(taskType)?.state ?? 'closed') === 'closed') {
    return E.left(reject('wrong-state', `the breaker of ${taskType} is closed already`))
  }
  return E.right([{ type: 'BreakerClosed', at, data: { taskType, cause: 'manual', reason } }])
}

const decideConfigure = (command: CommandOf<'Configure'>, tables: Tables, at: number): Decision => {
  const { settings } = tables.head
  const patched = patchSettings(settings, command.patch)
  if (patched.tenants !== settings.tenants && !isEmpty(tables, at)) {
    return E.left(reject('wrong-state', `queue ${tables.queue} is not empty: whether its tenants are isolated can be set only while it has no known tasks, schedules, batches or approvals. Take another queue`))
  }
  const isSame = pipe(JSON.stringify(patched), (text) => text === JSON.stringify(settings))
  return E.right(isSame ? [] : [{ type: 'QueueConfigured', at, data: { patch: command.patch } }])
}

/** Nothing is left that was decided under another setting. */
const isEmpty = (tables: Tables, at: number): boolean =>
  tables.schedules.size === 0 && tables.approvals.size === 0 && !tables.batches.all().some((batch) => isBatchKnown(tables, batch, at)) && tables.byId.size === [...forgotten(tables, at)].length
