/** The scalar types of commands, events and settings, each with its range. */
import * as t from 'io-ts'

const refine = <C extends t.Any>(codec: C, name: string, holds: (value: t.TypeOf<C>) => boolean): t.Type<t.TypeOf<C>> =>
  t.refinement(codec, holds, name)

/** One of these texts. */
export const oneOf = <T extends string>(texts: ReadonlyArray<T>, name?: string): t.Type<T> =>
  t.keyof(Object.fromEntries(texts.map((text) => [text, null])) as Record<T, null>, name)

// eslint-disable-next-line no-control-regex -- it is control characters that are refused here
const unprintable = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\ud800-\udfff]/u

/** 1–128 printable characters. An id is the producer's own, or a UUIDv7. */
const isName = (value: string): boolean => value.length > 0 && value.length <= 128 && !unprintable.test(value)

/** A task's id. `#` begins a task's number (`#42`), so an id must not start with it. */
export const TaskId = refine(t.string, 'task id: 1–128 printable characters, not starting with #', (id) => isName(id) && id[0] !== '#')
/** Refers to an existing task by its id, or by its number as `#42`. */
export const TaskRef = refine(
  t.string,
  'task id (1–128 printable characters), or number as #42',
  (ref) => (ref[0] === '#' ? /^#[1-9]\d{0,15}$/.test(ref) : isName(ref)),
)
/** A batch's id. Shorter than a task's, because that of its callback begins with it. */
export const BatchId = refine(t.string, 'batch id: 1–100 printable characters, not starting with #', (id) => isName(id) && id.length <= 100 && id[0] !== '#')
export const AgentId = refine(t.string, 'agent id: 1–128 printable characters', isName)
export const TaskType = refine(t.string, 'task type: 1–128 printable characters, without *', (type) => isName(type) && !type.includes('*'))
/** A type or a pattern: `eng-backend`, `eng-*` or `*`. */
export const TypePattern = refine(
  t.string,
  'type pattern: a task type, a prefix with * at its end, or *',
  (pattern) => isName(pattern) && !pattern.slice(0, -1).includes('*'),
)
export const Name = refine(t.string, '1–128 printable characters', isName)
/** A task's concurrency key must not look like the key of another limit. */
const isConcurrencyKey = (key: string): boolean => isName(key) && key !== '*' && !/^(type|tenant):/.test(key)
export const ConcurrencyKey = refine(t.string, 'concurrency key: 1–128 printable characters, other than * and not starting with type: or tenant:', isConcurrencyKey)
export const LimitKey = refine(
  t.string,
  'limit: a concurrency key, type:TYPE or tenant:TENANT; or *, type:* or tenant:* for each that has none of its own',
  (key) => {
    const [, scope, name = ''] = /^(type|tenant):(.*)$/s.exec(key) ?? []
    if (key === '*' || isConcurrencyKey(key)) return true
    return scope !== undefined && isName(name) && (name === '*' || scope === 'tenant' || !name.includes('*'))
  },
)
export const QueueName = refine(t.string, 'queue name: 1–64 of a–z A–Z 0–9 . _ -', (name) => /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name))

/** Text that has a UTF-8 form. A lone surrogate has none, and would break readers of the queue's JSON (RFC 8785). */
export const UnicodeText = refine(t.string, 'text without lone surrogates', (text) => text.isWellFormed())

export const textMax = 4_000
/** Free text for people: a reason, a description. */
export const Text = refine(
  t.string,
  `text of at most ${textMax} characters, without lone surrogates`,
  (text) => text.length <= textMax && text.isWellFormed(),
)
/** Text as it may have been recorded by earlier versions, under weaker rules. */
export const RecordedText = t.string

/** The text, cut to at most `max` characters; a cut text ends with `…`. A surrogate pair is not cut in half. */
export const clipped = (text: string, max: number): string => (text.length <= max ? text : `${firstOf(text, max - 1)}…`)

/** The first `max` characters of a text at most. A surrogate pair is not cut in half. */
export const firstOf = (text: string, max: number): string => {
  if (text.length <= max) return text
  const last = text.charCodeAt(max - 1)
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? max - 1 : max)
}

/** JSON has only one zero, so −0 would be read back as another number. */
const isRead = (value: number): boolean => value !== 0 || 1 / value > 0
const isInteger = (min: number, max: number) => (value: number) =>
  Number.isInteger(value) && value >= min && value <= max && isRead(value)
const isBetween = (min: number, max: number) => (value: number) =>
  Number.isFinite(value) && value >= min && value <= max && isRead(value)

export const integer = (min: number, max: number) => refine(t.number, `whole number from ${min} to ${max}`, isInteger(min, max))
export const between = (min: number, max: number) => refine(t.number, `number from ${min} to ${max}`, isBetween(min, max))

/** The end of the year 9999. */
export const instantMax = 253_402_300_799_999
/** Milliseconds since 1970 in UTC, up to the year 9999. */
export const Instant = refine(t.number, 'milliseconds since 1970', isInteger(0, instantMax))
export type Instant = number
/** An {@link Instant}; `null` for no time. */
export const InstantOrNone = t.union([Instant, t.null])
/** The {@link Instant} at or just before this many milliseconds since 1970, or the nearest valid one. */
export const toInstant = (ms: number): Instant => (ms >= instantMax ? instantMax : ms > 0 ? Math.floor(ms) : 0)

const secondsMax = 10 * 365 * 86_400
/** A duration in seconds, at most ten years. */
export const Seconds = between(0, secondsMax)
/** A duration in seconds, at least a millisecond. */
export const PositiveSeconds = between(0.001, secondsMax)

export const Priority = integer(1, 10)
/** A lease's fencing token: grows with every claim in the queue. */
export const Token = integer(1, Number.MAX_SAFE_INTEGER)
export const Count = integer(0, Number.MAX_SAFE_INTEGER)
