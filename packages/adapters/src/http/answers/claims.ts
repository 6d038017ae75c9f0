/** Answers to claims, and to reports on claimed tasks. */
import { Status } from '@daybook/core'
import * as t from 'io-ts'
import { Time } from '../../iso-time.js'
import { AnyJson } from '../json/wire.js'
import { attempt, Callback, content, ids, ProblemAnswer, Reason, shown } from './parts.js'

const ClaimedTask = t.intersection(
  [
    t.type({
      id: t.string,
      number: t.number,
      type: t.string,
      priority: t.number,
      status: t.literal('in-progress'),
      dependencies: ids,
      timeout: t.number,
      maxRetries: t.number,
      retries: t.number,
      attempts: t.number,
      ...attempt,
      idempotencyKey: t.string,
      claimedBy: t.string,
      createdAt: Time,
    }),
    /** `result`: only of a task that was imported with one although it is not finished. */
    t.partial({ ...content, ...shown, result: AnyJson }),
  ],
  'ClaimedTask',
)

const LeaseAnswer = t.type({ token: t.number, expiresAt: Time }, 'Lease')
/** An agent that does not trust its clock measures the lease from the time when it sent the claim: the lease ends `waitedSeconds` + `seconds` later. */
const ClaimedLease = t.type({ token: t.number, expiresAt: Time, seconds: t.number, waitedSeconds: t.number }, 'ClaimedLease')
/** A memory of an earlier task. An external memory may add members, or leave some out. */
const Memory = t.intersection(
  [
    t.type({}),
    t.partial({
      id: t.string,
      queue: t.string,
      task: t.string,
      type: t.string,
      phase: t.string,
      ticketId: t.string,
      at: t.string,
      goal: t.string,
      summary: t.string,
      files: ids,
      discoveries: t.readonlyArray(AnyJson),
      errors: ids,
    }),
  ],
  'Memory',
)

export const MemoriesAnswer = t.type({ memories: t.readonlyArray(Memory) }, 'Memories')
export const ClaimsAnswer = t.intersection(
  [
    t.type({
      claims: t.readonlyArray(
        t.intersection([t.type({ task: ClaimedTask, lease: ClaimedLease, attempt: t.number }), t.partial({ checkpoint: AnyJson, callback: Callback, memories: t.readonlyArray(Memory) })], 'Claim'),
      ),
    }),
    /** `reason`: why there are no claims, although matching tasks are ready. `memoriesMissing`: why some memories may be missing. */
    t.partial({ reason: Reason, memoriesMissing: t.string }),
  ],
  'Claims',
)

export const HeartbeatAnswer = t.type({ lease: LeaseAnswer }, 'Extended')
/** `spawned`: tasks that its discoveries became. `approvals`: what waits for a guardian. `left`: number of discoveries that led to nothing. `detail`: only of an incomplete task. */
export const CompletedAnswer = t.intersection([t.type({ status: Status, spawned: ids }), t.partial({ approvals: ids, left: t.number, detail: t.string })], 'Completed')
export const FailedAnswer = t.intersection([t.type({ status: Status }), t.partial({ availableAt: Time })], 'Failed')
export const ReleasedAnswer = t.type({ status: Status }, 'Released')
export const CallbackAnswer = t.type({ task: t.string, status: Status }, 'Callback taken')
export const OutcomesAnswer = t.type(
  {
    results: t.readonlyArray(
      t.union([HeartbeatAnswer, CompletedAnswer, FailedAnswer, ReleasedAnswer, ProblemAnswer], 'Outcome result'),
    ),
  },
  'Outcome results',
)
