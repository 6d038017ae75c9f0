/** The values of a task's fields: statuses, phases, priorities, results and failures. The fields are in `task-fields.ts`. */
import * as t from 'io-ts'
import { listOf } from './list.js'
import { Json, JsonObject } from '../text/json.js'
import { clipped, Name, oneOf, PositiveSeconds, TaskId, Text, textMax, UnicodeText } from './scalars.js'
import type { MayLack } from './may-lack.js'

/**
 * The statuses of a task. `completed`, `cancelled` and `discarded` are final. `queued` is only shown (`shownStatus`): the
 * task is `pending`, and the queue is at capacity. `waiting`: its agent parked it until a callback comes.
 */
export const statuses = [
  'scheduled',
  'waiting',
  'blocked',
  'pending',
  'queued',
  'in-progress',
  'incomplete',
  'completed',
  'dead-letter',
  'cancelled',
  'discarded',
] as const
export type Status = (typeof statuses)[number]
export const Status = oneOf(statuses, 'status')

export const isFinal = (status: Status): boolean =>
  status === 'completed' || status === 'cancelled' || status === 'discarded'

/** Whether the task has come to rest: it is finished or a dead letter. */
export const isSettled = (status: Status): boolean => isFinal(status) || status === 'dead-letter'

/** The statuses of tasks that can be cancelled. A reviewer decides about dead letters. */
export const cancellable = statuses.filter((status) => !isSettled(status))

export const phases = ['REQUIREMENTS', 'IMPLEMENTATION', 'VALIDATION', 'ANALYSIS', 'TESTING'] as const
export type Phase = (typeof phases)[number]
export const Phase = oneOf(phases, 'phase')

/** The names of priorities and their numbers (TQM-DM-001). */
export const priorityOf = { CRITICAL: 10, HIGH: 8, MEDIUM: 5, LOW: 3 } as const
export type Band = keyof typeof priorityOf
export const bands = ['CRITICAL', 'HIGH', 'MEDIUM', 'LOW'] as const satisfies ReadonlyArray<Band>
export const PriorityName = oneOf(bands, 'priority name')

/** The band of a priority: 10 CRITICAL, 8–9 HIGH, 5–7 MEDIUM, 1–4 LOW. */
export const bandOf = (priority: number): Band =>
  priority >= 10 ? 'CRITICAL' : priority >= 8 ? 'HIGH' : priority >= 5 ? 'MEDIUM' : 'LOW'

export const priorityDefault = 5

/** When a task counts as a duplicate of another: see `decide/duplicates.ts`. */
export const Deduplicate = t.keyof({ content: null, key: null, off: null }, 'deduplicate')
export type Deduplicate = t.TypeOf<typeof Deduplicate>

export const dependenciesMax = 256
export const Dependencies = t.refinement(
  listOf(TaskId),
  (ids) => ids.length <= dependenciesMax,
  `at most ${dependenciesMax} task ids`,
)

export const retriesMax = 1_000

/** What a worker reports when it has completed a task (LK-02, TQM-DM-002). */
export const Result = t.partial(
  {
    success: t.boolean,
    status: UnicodeText,
    output: Json,
    decisionReport: Json,
    discoveries: listOf(Json),
    validationFailed: t.boolean,
    /** The same flag, as the reference model of the requirements spells it. */
    validation_failed: t.boolean,
    errors: listOf(UnicodeText),
    metrics: JsonObject,
  },
  'result',
)
export type Result = MayLack<t.TypeOf<typeof Result>>

/** Whether the decision report is given and is not null, blank or empty. */
export const hasDecisionReport = (result: Result): boolean => {
  const report = result.decisionReport
  if (report === undefined || report === null) return false
  if (typeof report === 'string') return report.trim() !== ''
  return typeof report !== 'object' || Object.keys(report).length > 0
}

/** What happens to a parked task if no callback comes in time. */
export const OnTimeout = t.keyof({ fail: null, requeue: null }, 'onTimeout')
export type OnTimeout = t.TypeOf<typeof OnTimeout>

/** How an agent parks a task: until a callback with this key comes, for `timeoutSeconds` at most. `onTimeout`: default `fail`. */
export const ParkRequest = t.intersection(
  [t.type({ callbackKey: Name, timeoutSeconds: PositiveSeconds }), t.partial({ onTimeout: OnTimeout, checkpoint: Json })],
  'parking',
)
export type ParkRequest = MayLack<t.TypeOf<typeof ParkRequest>>

const Finite = t.refinement(t.number, Number.isFinite, 'number')

/** Why an attempt failed, as reported by the agent. */
export const Failure = t.intersection(
  [
    t.type({ message: UnicodeText }),
    t.partial({ code: UnicodeText, retryAfter: t.union([Finite, UnicodeText]), stack: UnicodeText }),
  ],
  'failure',
)
export type Failure = t.TypeOf<typeof Failure>

const stackMax = 16_000
const Stack = t.refinement(UnicodeText, (stack) => stack.length <= stackMax, `text of at most ${stackMax} characters, without lone surrogates`)
/** The parts of a failure that the log keeps. */
export const KeptFailure = t.intersection(
  [t.type({ message: Text }), t.partial({ code: Text, retryAfter: t.union([Finite, Text]), stack: Stack })],
  'failure',
)
/** A failure as it may have been recorded by earlier versions, under weaker rules. */
export const RecordedFailure = t.intersection(
  [t.type({ message: t.string }), t.partial({ code: t.string, retryAfter: t.union([t.number, t.string]), stack: t.string })],
  'failure',
)

/** Cuts a failure to what the log keeps. */
export const keptFailure = ({ message, code, retryAfter, stack }: Failure): Failure => ({
  message: clipped(message, textMax),
  ...(code === undefined ? {} : { code: clipped(code, textMax) }),
  ...(retryAfter === undefined ? {} : { retryAfter: typeof retryAfter === 'string' ? clipped(retryAfter, textMax) : retryAfter }),
  ...(stack === undefined ? {} : { stack: clipped(stack, stackMax) }),
})
