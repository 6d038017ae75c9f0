/**
 * The buckets of a report: hours, days, weeks and months by the clocks of a time zone. A day has 23 or 25 hours where clocks change.
 *
 * Offsets come from the time zone data of `Intl`. Buckets are made of whole quarters of an hour, in UTC. Today's offsets are multiples of a quarter.
 * Some older ones are not (local mean time before 1972): there a quarter belongs to the bucket in which it begins.
 */
import * as E from 'fp-ts/lib/Either.js'
import { quarterMs } from '../read-models/rollup-tables.js'

const minuteMs = 60_000
const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** The largest number of buckets in one report. */
export const bucketsMax = 10_000

/** `total`: the whole period. A number is in minutes, and must divide a day into equal parts. */
export type BucketSize = 'total' | 'month' | 'week' | 'day' | 'hour' | number

/** From `from` (included) to `to` (not included), in milliseconds since 1970. */
export interface Span {
  readonly from: number
  readonly to: number
}

/** The size that the text means; `undefined` if it means none. */
export const bucketSizeOf = (text: string): BucketSize | undefined => {
  if (text === 'total' || text === 'month' || text === 'week' || text === 'day' || text === 'hour') return text
  const minutes = /^[1-9]\d{0,3}$/.test(text) ? Number(text) : 0
  return minutes > 0 && minutes % 15 === 0 && 1_440 % minutes === 0 ? minutes : undefined
}

/** The clock of a time zone. */
export class Clock {
  private readonly format: Intl.DateTimeFormat
  private readonly known = new Map<number, number>()

  /** @throws RangeError if there is no such time zone. Use {@link clockOf}. */
  constructor(readonly zone: string) {
    this.format = new Intl.DateTimeFormat('en-US', { timeZone: zone, calendar: 'iso8601', hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric' })
  }

  /** What the clock shows, as if it were UTC: milliseconds since 1970. */
  localOf(at: number): number {
    return at + this.offsetAt(at)
  }

  /** Milliseconds by which the clock is ahead of UTC. Cached for whole quarters of an hour. */
  private offsetAt(at: number): number {
    const quarter = at - (((at % quarterMs) + quarterMs) % quarterMs)
    let offset = this.known.get(quarter)
    if (offset === undefined) this.known.set(quarter, (offset = this.read(quarter)))
    return offset
  }

  private read(at: number): number {
    const parts = Object.fromEntries(this.format.formatToParts(at).map(({ type, value }) => [type, Number(value)]))
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts
    return Date.UTC(year, month - 1, day, hour, minute, second) - at
  }

  /** The times of this period at which the offset changes. Only days with different offsets at both ends are searched. */
  *changesIn({ from, to }: Span): Generator<number> {
    for (let begin = from; begin < to; begin += dayMs) {
      const end = Math.min(begin + dayMs, to)
      if (this.offsetAt(begin) === this.offsetAt(end)) continue
      let [before, after] = [begin, end]
      while (after - before > quarterMs) {
        const middle = before + Math.floor((after - before) / 2 / quarterMs) * quarterMs
        if (this.offsetAt(middle) === this.offsetAt(begin)) before = middle
        else after = middle
      }
      if (after < to) yield after
    }
  }

  /** When a local day begins: its first quarter of an hour. `day`: the day's midnight as {@link localOf} has it. */
  beginOf(day: number): number {
    let at = day - 15 * hourMs
    while (this.localOf(at) < day) at += quarterMs
    return at
  }

  /** ISO 8601 with the zone's offset: `2026-10-25T02:00:00+01:00`. */
  textOf(at: number): string {
    const offset = this.offsetAt(at)
    const [sign, minutes] = [offset < 0 ? '-' : '+', Math.round(Math.abs(offset) / minuteMs)]
    const two = (value: number): string => String(value).padStart(2, '0')
    return `${new Date(at + offset).toISOString().slice(0, 19)}${sign}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
  }
}

export const clockOf = (zone: string): E.Either<string, Clock> => {
  try {
    return E.right(new Clock(zone))
  } catch {
    return E.left(`${JSON.stringify(zone)} is not a time zone: use a name of the IANA list, like Europe/Berlin, or UTC`)
  }
}

/**
 * A text that is equal for all times of one bucket: the local day, week (from Monday) or month. For parts of a day it includes the offset, so that an
 * hour that comes twice is two buckets.
 */
const keyOf = (size: BucketSize, local: number, at: number): string => {
  if (size === 'total') return ''
  if (size === 'month') return new Date(local).toISOString().slice(0, 7)
  if (size === 'day') return String(Math.floor(local / dayMs))
  // 1 January 1970 was a Thursday.
  if (size === 'week') return String(Math.floor((local / dayMs + 3) / 7))
  const ms = size === 'hour' ? hourMs : size * minuteMs
  return `${Math.floor(local / ms)} ${local - at}`
}

/** The period, extended to whole quarters of an hour. */
export const wholeQuarters = ({ from, to }: Span): Span => ({ from: Math.floor(from / quarterMs) * quarterMs, to: Math.ceil(to / quarterMs) * quarterMs })

/** The buckets of a period of whole quarters. The period may cut the first and the last short. `Left` says why there are none. */
export const bucketsOf = (clock: Clock, period: Span, size: BucketSize): E.Either<string, ReadonlyArray<Span>> => {
  const buckets: Array<Span> = []
  const changes = [...clock.changesIn(period), period.to]
  const isOfDays = size === 'day' || size === 'week' || size === 'month'
  let local = -Infinity
  let from = period.from
  let key: string | undefined
  let at = period.from
  for (const change of changes) {
    // Between two changes the offset is constant.
    const offset = clock.localOf(at) - at
    for (; at < change; at += quarterMs) {
      // Clocks that go back over midnight show the day before once more. Its bucket has ended by then.
      local = isOfDays ? Math.max(local, at + offset) : at + offset
      const next = keyOf(size, local, at)
      if (next === key) continue
      if (key !== undefined) buckets.push({ from, to: at })
      if (buckets.length >= bucketsMax) return E.left(`a report has at most ${bucketsMax} buckets: take a shorter period or larger buckets`)
      from = at
      key = next
    }
  }
  if (key !== undefined) buckets.push({ from, to: period.to })
  return E.right(buckets)
}
