/** Codecs that several answers of the server share. OpenAPI is generated from the answers, and the tests check real answers against them. */
import { type ShownField, shownFields, Status, taskFields } from '@daybook/core'
import * as t from 'io-ts'
import { problemCodes } from '../problem.js'
import { Time } from '../../iso-time.js'
import { AnyJson, AnyObject } from '../json/wire.js'

export const keys = <K extends string>(names: ReadonlyArray<K>): t.Type<K> =>
  t.keyof(Object.fromEntries(names.map((name) => [name, null])) as Record<K, null>)
export const ids = t.readonlyArray(t.string)
export const orNull = <C extends t.Mixed>(codec: C) => t.union([codec, t.null])
export const revision = { revision: t.number }
export const ProblemAnswer = t.intersection(
  [
    t.type({ type: t.string, title: t.string, status: t.number, code: keys(problemCodes), detail: t.string }),
    t.partial({
      errors: t.readonlyArray(t.type({ path: t.string, message: t.string })),
      retryAfterSeconds: t.number,
      correlationId: t.string,
      loading: t.readonlyArray(t.type({ queue: t.string, events: t.number, of: t.number })),
      queues: t.readonlyArray(t.type({ queue: t.string, reason: t.string })),
    }),
  ],
  'Problem',
)

/** `withheld`: why the other members are missing, for a task in an erasable queue. */
export const content = { payload: AnyJson, description: t.string, metadata: AnyObject, withheld: t.keyof({ erased: null, 'key-missing': null, damaged: null }) }
/** `attempt`: number of the current or last attempt, 0 before the first. `attemptsMax`: number of the attempt whose failure makes a dead letter. */
export const attempt = { attempt: t.number, attemptsMax: t.number }
/** The fields that are shown as they were given. Their ranges are those of requests, and are not repeated here. */
export const shown = Object.fromEntries(
  shownFields.map((name) => {
    const { codec, isTime = false }: { readonly codec: t.Mixed; readonly isTime?: boolean } = taskFields[name]
    return [name, isTime ? Time : codec instanceof t.RefinementType ? (codec.type as t.Mixed) : codec]
  }),
) as Readonly<Record<ShownField, t.Mixed>>

/** Why a task is not running, and what would change that. */
export const Reason = t.intersection(
  [t.type({ code: t.string, message: t.string, change: t.string }), t.partial({ until: Time, blockedBy: t.readonlyArray(t.type({ id: t.string, status: Status })) })],
  'Reason',
)

/** The callback for which the task was last parked. */
export const Callback = t.type({ key: t.string, payload: AnyJson, at: Time }, 'Received callback')
export const Breaker = t.intersection(
  [
    t.type({ state: keys(['closed', 'open', 'half-open']), failures: t.number }),
    t.partial({ lastFailure: Time, openedAt: Time, halfOpenAt: Time, probe: t.string, reason: t.string }),
  ],
  'Breaker',
)
