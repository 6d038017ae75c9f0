/** Answers from the log: events, their verification, and the differences between two moments. */
import * as t from 'io-ts'
import { described } from '../openapi/json-schema.js'
import { Time } from '../../iso-time.js'
import { Breaker, keys, orNull, revision } from './parts.js'

const EventSpan = t.type({ from: t.number, to: t.number })
export const VerifyAnswer = t.intersection(
  [
    t.type({ ok: t.boolean, events: t.number, head: t.type({ revision: t.number, hash: orNull(t.string) }), begins: orNull(t.number) }),
    t.partial({
      checkpoint: t.type({ size: t.number, signer: t.string, count: t.number }),
      unsealed: EventSpan,
      sealedLater: t.intersection([t.type({ events: t.number }), EventSpan]),
      broken: t.intersection([
        t.type({ kind: keys(['altered', 'missing', 'inserted', 'reordered', 're-signed', 'cut', 'rewritten']), revision: t.number, reason: t.string }),
        t.partial({ to: t.number }),
      ]),
    }),
  ],
  'Verdict',
)

/** Programs that fold or check the log need the data unchanged, so times are not converted. */
const RecordedData = described(new t.UnknownType(), {
  description: 'the data as recorded in the log, in version schemaVersion; its times are milliseconds since 1970',
})
/** For people: times are ISO 8601. */
const ShownData = described(new t.UnknownType(), { description: 'the data of the event, in version schemaVersion; its times are ISO 8601' })
const event = { revision: t.number, type: t.string, schemaVersion: t.number, at: t.string }
const cause = t.partial({ needs: t.string, actor: t.string, correlationId: t.string })
const EventAnswer = t.intersection([t.type({ ...event, data: RecordedData }), cause], 'Event')
export const HistoryAnswer = t.type(
  {
    events: t.readonlyArray(t.intersection([t.type({ ...event, data: ShownData }), cause], 'History event')),
    /** Where to continue with older events, or with the search for a task that the queue no longer knows; `null` when there is nothing older. */
    next: orNull(t.number),
  },
  'History',
)

export const EventsAnswer = t.type(
  { events: t.readonlyArray(EventAnswer), next: orNull(t.number), ...revision },
  'Page of events',
)
const EventReference = t.intersection([t.type({ revision: t.number, type: t.string, at: Time }), t.partial({ actor: t.string, correlationId: t.string })], 'Event reference')
/** `at`: `null` before the first event. */
const AtMoment = t.type({ revision: t.number, at: orNull(Time) }, 'Moment')
const Members = orNull(t.record(t.string, t.unknown))
/** `before` and `after` have the members that differ; `null` if the task did not exist. */
export const DiffAnswer = t.type(
  {
    from: AtMoment,
    to: AtMoment,
    tasks: t.readonlyArray(t.type({ id: t.string, number: t.number, type: t.string, before: Members, after: Members, events: t.readonlyArray(EventReference) })),
    nextCursor: orNull(t.string),
    breakers: t.readonlyArray(t.type({ type: t.string, before: orNull(Breaker), after: orNull(Breaker), events: t.readonlyArray(EventReference), eventsTotal: t.number })),
    breakersTotal: t.number,
    ...revision,
  },
  'Difference',
)
