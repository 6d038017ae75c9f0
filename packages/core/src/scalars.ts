/** The small types that commands, events and settings are made of, each with its range. */
import * as t from 'io-ts'

const refine = <C extends t.Any>(codec: C, name: string, holds: (value: t.TypeOf<C>) => boolean): t.Type<t.TypeOf<C>> =>
  t.refinement(codec, holds, name)

// eslint-disable-next-line no-control-regex -- it is control characters that are refused here
const unprintable = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\ud800-\udfff]/u

/** 1–128 printable characters. Ids are the producer's own or a UUIDv7. */
const isName = (value: string): boolean => value.length > 0 && value.length <= 128 && !unprintable.test(value)

/** A task's id. `#` opens a task's number (`#42`), so an id may not start with it. */
export const TaskId = refine(t.string, 'task id: 1–128 printable characters, not starting with #', (id) => isName(id) && id[0] !== '#')
export const AgentId = refine(t.string, 'agent id: 1–128 printable characters', isName)
export const TaskType = refine(t.string, 'task type: 1–128 printable characters, without *', (type) => isName(type) && !type.includes('*'))
/** `eng-backend`, `eng-*` or `*`. */
export const TypePattern = refine(
  t.string,
  'type pattern: a task type, a prefix with * at its end, or *',
  (pattern) => isName(pattern) && !pattern.slice(0, -1).includes('*'),
)
export const Name = refine(t.string, '1–128 printable characters', isName)
export const QueueName = refine(t.string, 'queue name: 1–64 of a–z A–Z 0–9 . _ -', (name) => /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name))

export const textMax = 4_000
/** Free text for people: a reason, a description. */
export const Text = refine(t.string, `text of at most ${textMax} characters`, (text) => text.length <= textMax)

const isInteger = (min: number, max: number) => (value: number) => Number.isInteger(value) && value >= min && value <= max
const isBetween = (min: number, max: number) => (value: number) => Number.isFinite(value) && value >= min && value <= max

export const integer = (min: number, max: number) => refine(t.number, `whole number from ${min} to ${max}`, isInteger(min, max))
export const between = (min: number, max: number) => refine(t.number, `number from ${min} to ${max}`, isBetween(min, max))

/** Milliseconds since 1970 in UTC, up to the year 9999. */
export const Instant = refine(t.number, 'milliseconds since 1970', isInteger(0, 253_402_300_799_999))
export type Instant = number

const secondsMax = 10 * 365 * 86_400
/** A duration: at most ten years. */
export const Seconds = between(0, secondsMax)
/** A duration of at least a millisecond. */
export const PositiveSeconds = between(0.001, secondsMax)

export const Priority = integer(1, 10)
/** A lease's fencing token: grows with every claim in the queue. */
export const Token = integer(1, Number.MAX_SAFE_INTEGER)
export const Count = integer(0, Number.MAX_SAFE_INTEGER)
