/** The decider: returns the events of a command in a state, or why it is refused. Changes nothing. */
import * as E from 'fp-ts/lib/Either.js'
import type { Command, CommandType, Envelope } from '../model/commands.js'
import { QueueState } from '../fold/queue-state.js'
import { invalid, reject, type Rejection } from '../model/rejections.js'
import { forgotten, isBatchKnown } from '../state/retention.js'
import { toInstant } from '../model/scalars.js'
import { patchSettings, type Settings } from '../model/settings.js'
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
import type { Decider, Decision } from './decision.js'
import { decideRedrive, decideStopRedrive } from './redrive.js'
import { decideDeleteQueue } from './delete-queue.js'
import { decideEnqueue, decideImport } from './enqueue.js'
import { decideErase } from './erase.js'
import { decideCallback, decidePark } from './park.js'
import { decideChangeSchedule, decideCreateSchedule, decideRemoveSchedule } from './schedules.js'
import { decideComplete, decideFail, decideHeartbeat, decideRelease } from './settle.js'
import { decideTick } from './tick.js'
import { decideRemoveLimit, decideSetLimit } from './limit.js'

export const decide =
  (command: Command, envelope: Envelope) =>
  (state: QueueState): Decision => {
    const tables = QueueState.tablesOf(state)
    // Time never runs backward, whatever the clock does (INV-14), and is always an instant that an event can carry.
    const at = envelope.at >= tables.head.at ? toInstant(envelope.at) : tables.head.at
    // The decider of this command's type. TypeScript cannot relate the two unions.
    const decider = deciders[command.type] as (command: Command, tables: Tables, envelope: Envelope) => Decision
    const decision = decider(command, tables, at === envelope.at ? envelope : { ...envelope, at })
    return E.isLeft(decision) ? decision : E.right(withBatchEnds(decision.right, tables, at, command.type === 'Tick'))
  }

const decideCloseBreaker: Decider<'CloseBreaker'> = ({ taskType, reason }, tables, { at }) =>
  (tables.breakers.get(taskType)?.state ?? 'closed') === 'closed'
    ? E.left(reject('wrong-state', `the breaker of ${taskType} is closed already`))
    : E.right([{ type: 'BreakerClosed', at, data: { taskType, cause: 'manual', reason } }])

const decideConfigure: Decider<'Configure'> = ({ patch }, tables, { at }) => {
  const { settings } = tables.head
  const patched = patchSettings(settings, patch)
  if (patched.tenants !== settings.tenants && !isEmpty(tables, at)) {
    return E.left(reject('wrong-state', `queue ${tables.queue} is not empty: whether its tenants are isolated can be set only while it has no known tasks, schedules, batches or approvals. Take another queue`))
  }
  const overfull = refusalOfMany(settings, patched)
  if (overfull !== undefined) return E.left(overfull)
  const isSame = JSON.stringify(patched) === JSON.stringify(settings)
  return E.right(isSame ? [] : [{ type: 'QueueConfigured', at, data: { patch } }])
}

/** The settings with a member for each name. They are in each snapshot, and in each answer about the settings. */
const named: ReadonlyArray<{ readonly what: string; readonly max: number; readonly of: (settings: Settings) => object }> = [
  { what: 'assignment.tenants', max: 10_000, of: ({ assignment }) => assignment.tenants },
  { what: 'breakers.overrides', max: 10_000, of: ({ breakers }) => breakers.overrides },
  { what: 'discoveries', max: 1_000, of: ({ discoveries }) => discoveries },
]

/** A queue that had more before there was a limit keeps them, and may have fewer. */
const refusalOfMany = (before: Settings, after: Settings): Rejection | undefined => {
  for (const { what, max, of } of named) {
    const count = Object.keys(of(after)).length
    if (count > max && count > Object.keys(of(before)).length) {
      return invalid([{ path: what, message: `would have ${count} members: ${max} is the limit, and null removes one` }])
    }
  }
  return undefined
}

/** Nothing is left that was decided under another setting. */
const isEmpty = (tables: Tables, at: number): boolean =>
  tables.schedules.size === 0 && tables.approvals.size === 0 && !tables.batches.all().some((batch) => isBatchKnown(tables, batch, at)) && tables.byId.size === [...forgotten(tables, at)].length

const deciders: { readonly [T in CommandType]: Decider<T> } = {
  Enqueue: decideEnqueue,
  Import: decideImport,
  Claim: decideClaim,
  Heartbeat: decideHeartbeat,
  Complete: decideComplete,
  Fail: decideFail,
  Release: decideRelease,
  Park: decidePark,
  Callback: decideCallback,
  Cancel: decideCancel,
  CancelAll: decideCancelAll,
  Retry: decideRetry,
  Discard: decideDiscard,
  Approve: decideApprove,
  Refuse: decideRefuse,
  Snooze: decideSnooze,
  Escalate: decideEscalate,
  Redrive: decideRedrive,
  StopRedrive: decideStopRedrive,
  OpenBreaker: ({ taskType, reason }, _, { at }) => E.right([{ type: 'BreakerOpened', at, data: { taskType, cause: 'manual', reason } }]),
  CloseBreaker: decideCloseBreaker,
  Restart: decideRestart,
  AmendTask: decideAmend,
  Erase: decideErase,
  Bump: decideBump,
  RegisterAgent: decideRegisterAgent,
  TerminateAgent: decideTerminateAgent,
  Configure: decideConfigure,
  SetLimit: decideSetLimit,
  RemoveLimit: decideRemoveLimit,
  Pause: ({ reason }, { head }, { at }) => E.right(head.paused === null ? [{ type: 'QueuePaused', at, data: { reason } }] : []),
  Resume: ({ reason }, { head }, { at }) => E.right(head.paused === null ? [] : [{ type: 'QueueResumed', at, data: { reason } }]),
  DeleteQueue: decideDeleteQueue,
  CreateSchedule: decideCreateSchedule,
  ChangeSchedule: decideChangeSchedule,
  RemoveSchedule: decideRemoveSchedule,
  CreateBatch: decideCreateBatch,
  CloseBatch: decideCloseBatch,
  CancelBatch: decideCancelBatch,
  Tick: decideTick,
}
