/** Answers about dead letters, and about what waits for a guardian. */
import { DeadLetterFilter, haltCauses, Phase, proposalCauses, Status } from '@daybook/core'
import * as t from 'io-ts'
import { Time } from '../../iso-time.js'
import { content, ids, keys, orNull, revision, shown } from './parts.js'

/** A redrive: dead letters are sent back one after the other. `nextAt` is `null` when it has stopped. */
const Redrive = t.intersection(
  [
    t.type({ filter: DeadLetterFilter, perMinute: t.number, reviewer: t.string, reason: t.string, startedAt: Time, retried: t.number, nextAt: orNull(Time) }),
    t.partial({ stopped: t.intersection([t.type({ at: Time, cause: keys(['nothing-left', 'breaker-opened', 'by-hand']) }), t.partial({ taskType: t.string })]) }),
  ],
  'Redrive',
)

export const RedriveAnswer = t.type({ redrive: orNull(Redrive) }, 'Last redrive')
export const RetriedAnswer = t.intersection([t.type({ retried: ids }), t.partial({ skipped: ids, count: t.number, redrive: Redrive })], 'Retried')
export const SnoozedAnswer = t.type({ snoozed: ids }, 'Snoozed')
export const EscalatedAnswer = t.type({ escalated: ids }, 'Escalated')
export const DiscardedAnswer = t.type({ discarded: ids, cancelled: ids }, 'Discarded')
export const PatternsAnswer = t.type(
  {
    patterns: t.readonlyArray(
      t.intersection(
        [t.type({ signature: t.string, type: t.string, count: t.number, sample: t.string, firstAt: Time, lastAt: Time, tasks: ids }), t.partial({ phase: Phase })],
        'FailurePattern',
      ),
    ),
    total: t.number,
    nextCursor: orNull(t.string),
    ...revision,
  },
  'Failure patterns',
)

/** A task that is enqueued if a guardian approves. */
const WaitingTask = t.intersection(
  [
    t.type({ id: t.string, type: t.string, priority: t.number, timeout: t.number, maxRetries: t.number, backoffSeconds: t.number }),
    t.partial({ ...content, ...shown, dependencies: ids, requires: t.type({ skills: ids }) }),
  ],
  'Waiting task',
)

/** `parent`: the task that caused the approval. `root`: the first task of its chain. */
const approval = {
  id: t.string,
  kind: keys(['spawn', 'loop', 'dead-letter']),
  cause: keys([...proposalCauses, ...haltCauses]),
  parent: t.string,
  root: t.string,
  at: Time,
  tasks: t.readonlyArray(WaitingTask),
}

const halted = t.partial({ rounds: t.number, error: t.string, signature: t.string })
export const ApprovalsAnswer = t.type({ approvals: t.readonlyArray(t.intersection([t.type(approval), halted], 'Approval')), ...revision }, 'Approvals')
const InChain = t.intersection(
  [
    t.type({ id: t.string, number: t.number, type: t.string, status: Status, createdAt: Time, lastError: orNull(t.string) }),
    t.partial({ phase: Phase, discovery: t.string, parentTaskId: t.string }),
  ],
  'Task of a chain',
)

export const ApprovalAnswer = t.intersection(
  [t.type({ ...approval, chain: t.readonlyArray(InChain), signatures: t.record(t.string, t.number), ...revision }), halted],
  'Approval with its chain',
)
export const ApprovedAnswer = t.type({ approved: t.literal(true), spawned: ids, retried: ids }, 'Approved')
export const RefusedAnswer = t.type({ refused: t.literal(true) }, 'Refused')
