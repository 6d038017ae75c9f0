/** Converts times: ISO 8601 text in the API, milliseconds since 1970 inside. */
import { instantMax } from '@daybook/core/common'
import * as t from 'io-ts'

const form = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(?:Z|([+-])(\d\d):(\d\d))$/

/**
 * Milliseconds of an ISO 8601 date and time with its zone; `undefined` for any other text.
 *
 * Gotchas: stricter than `Date.parse`, which takes `120` for a year and 30 February for 2 March. Digits beyond milliseconds are cut off.
 *
 * @example
 * parseTime('2026-07-01T12:00:00+02:00') // => 1782900000000
 */
export const parseTime = (text: string): number | undefined => {
  const parts = form.exec(text)
  if (parts === null) return undefined
  const at = (group: number): number => Number(parts[group] ?? 0)
  const [year, month, day, hour, minute, second] = [at(1), at(2), at(3), at(4), at(5), at(6)]
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return undefined
  if (hour > 23 || minute > 59 || second > 59 || at(9) > 23 || at(10) > 59) return undefined
  const millisecond = Number((parts[7] ?? '').padEnd(3, '0').slice(0, 3))
  const offset = (parts[8] === '-' ? -1 : 1) * (at(9) * 60 + at(10)) * 60_000
  const time = Date.UTC(year, month - 1, day, hour, minute, second, millisecond) - offset
  return year >= 1_000 && time >= 0 && time <= instantMax ? time : undefined
}

const daysIn = (year: number, month: number): number => new Date(Date.UTC(year, month, 0)).getUTCDate()

export const Time = t.refinement(
  t.string,
  (text) => parseTime(text) !== undefined,
  'time that exists, as in 2026-07-01T12:00:00.000Z',
)

/** Only for a text that {@link Time} accepts. */
export const millisecondsOf = (text: string): number => parseTime(text) as number

export const isoOf = (ms: number): string => new Date(ms).toISOString()

/** Seconds from a time until now; 0 without a time. */
export const secondsSince = (then: number | undefined, now: number): number => (then === undefined ? 0 : Math.max(0, now - then) / 1_000)

/** {@link isoOf} that caches the last result: tasks of one batch often share their times. */
export const isoMemo = (): ((ms: number) => string) => {
  let last = Number.NaN
  let text = ''
  return (ms) => {
    if (ms !== last) {
      text = isoOf(ms)
      last = ms
    }
    return text
  }
}
