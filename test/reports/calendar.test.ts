/** EV-05: buckets are what the clocks of a place show, also on days with 23, 24.5 and 25 hours. */
import { type BucketSize, bucketSizeOf, bucketsOf, clockOf, quarterMs, type ReportPeriod } from '@daybook/projections/reports'
import * as E from 'fp-ts/lib/Either.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

const clock = (zone: string) => {
  const found = clockOf(zone)
  if (E.isLeft(found)) throw new Error(found.left)
  return found.right
}
const hourMs = 3_600_000
const midnight = (zone: string, day: string): number => clock(zone).beginOf(Date.parse(`${day}T00:00:00Z`))
const buckets = (zone: string, from: string, to: string, size: BucketSize): ReadonlyArray<ReportPeriod> => {
  const found = bucketsOf(clock(zone), { from: midnight(zone, from), to: midnight(zone, to) }, size)
  if (E.isLeft(found)) throw new Error(found.left)
  return found.right
}
const hours = (list: ReadonlyArray<ReportPeriod>): ReadonlyArray<number> => list.map(({ from, to }) => (to - from) / hourMs)

describe('EV-05: buckets in a time zone', () => {
  test.each([
    ['Europe/Berlin', '2026-03-28', '2026-03-31', [24, 23, 24]],
    ['Europe/Berlin', '2026-10-24', '2026-10-27', [24, 25, 24]],
    ['America/New_York', '2026-03-07', '2026-03-10', [24, 23, 24]],
    ['America/New_York', '2026-10-31', '2026-11-03', [24, 25, 24]],
    ['Australia/Lord_Howe', '2026-04-04', '2026-04-07', [24, 24.5, 24]],
    ['Australia/Lord_Howe', '2026-10-03', '2026-10-06', [24, 23.5, 24]],
    ['Asia/Kathmandu', '2026-03-28', '2026-03-31', [24, 24, 24]],
    ['America/Santiago', '2026-09-05', '2026-09-08', [24, 23, 24]],
    ['UTC', '2026-10-24', '2026-10-26', [24, 24]],
    // Clocks go back over midnight: from 00:01 to 23:01, and from 02:00 to 23:00.
    ['America/St_Johns', '2010-11-05', '2010-11-09', [24, 24, 25, 24]],
    ['Antarctica/Casey', '2010-03-03', '2010-03-07', [24, 24, 27, 24]],
  ])('days in %s from %s to %s have %s … hours', (zone, from, to, expected) => {
    expect(hours(buckets(zone, from, to, 'day'))).toEqual(expected)
  })

  test('days begin at midnight there, or with the first hour if there is no midnight', () => {
    expect(new Date(midnight('Asia/Kathmandu', '2026-03-28')).toISOString()).toBe('2026-03-27T18:15:00.000Z')
    expect(new Date(midnight('Europe/Berlin', '2026-10-25')).toISOString()).toBe('2026-10-24T22:00:00.000Z')
    expect(new Date(midnight('Australia/Lord_Howe', '2026-10-04')).toISOString()).toBe('2026-10-03T13:30:00.000Z')
    // In Santiago the clock goes from 23:59:59 to 01:00.
    expect(clock('America/Santiago').textOf(midnight('America/Santiago', '2026-09-06'))).toBe('2026-09-06T01:00:00-03:00')
  })

  test('an hour that comes twice is two buckets, and one that does not come is none', () => {
    const told = (zone: string, day: string, next: string): ReadonlyArray<string> => buckets(zone, day, next, 'hour').map(({ from }) => clock(zone).textOf(from).slice(11))
    const autumn = told('Europe/Berlin', '2026-10-25', '2026-10-26')
    expect(autumn).toHaveLength(25)
    expect(autumn.slice(1, 5)).toEqual(['01:00:00+02:00', '02:00:00+02:00', '02:00:00+01:00', '03:00:00+01:00'])
    const spring = told('America/New_York', '2026-03-08', '2026-03-09')
    expect(spring).toHaveLength(23)
    expect(spring.slice(1, 3)).toEqual(['01:00:00-05:00', '03:00:00-04:00'])
    // Half an hour back: what comes twice is half an hour.
    const island = buckets('Australia/Lord_Howe', '2026-04-05', '2026-04-06', 'hour')
    expect(hours(island).slice(0, 4)).toEqual([1, 1, 0.5, 1])
    expect(told('Australia/Lord_Howe', '2026-04-05', '2026-04-06').slice(1, 4)).toEqual(['01:00:00+11:00', '01:30:00+10:30', '02:00:00+10:30'])
  })

  test('weeks begin on Monday, months on the first; a period cuts them short', () => {
    const days = (zone: string, from: string, to: string, size: BucketSize) => buckets(zone, from, to, size).map(({ from: begin }) => clock(zone).textOf(begin).slice(0, 16))
    expect(days('Europe/Berlin', '2026-10-21', '2026-11-05', 'week')).toEqual(['2026-10-21T00:00', '2026-10-26T00:00', '2026-11-02T00:00'])
    expect(hours(buckets('Europe/Berlin', '2026-10-19', '2026-10-26', 'week'))).toEqual([169])
    expect(days('America/New_York', '2026-01-15', '2026-04-02', 'month')).toEqual(['2026-01-15T00:00', '2026-02-01T00:00', '2026-03-01T00:00', '2026-04-01T00:00'])
    expect(hours(buckets('America/New_York', '2026-03-01', '2026-04-01', 'month'))).toEqual([31 * 24 - 1])
    expect(buckets('Europe/Berlin', '2026-10-25', '2026-10-26', 30)).toHaveLength(50)
    expect(hours(buckets('Europe/Berlin', '2026-10-25', '2026-10-26', 'total'))).toEqual([25])
  })

  test('buckets follow each other without gaps, in whole quarters of an hour, whatever the zone and the period', () => {
    const zone = fc.constantFrom('Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu', 'America/St_Johns', 'Pacific/Chatham', 'Africa/Casablanca', 'America/Havana', 'UTC')
    const size = fc.constantFrom<BucketSize>('total', 'month', 'week', 'day', 'hour', 15, 90, 360)
    const from = fc.integer({ min: Date.UTC(1990, 0, 1) / quarterMs, max: Date.UTC(2037, 0, 1) / quarterMs })
    fc.assert(
      fc.property(zone, size, from, fc.integer({ min: 1, max: 4_000 }), (name, bucket, begin, quarters) => {
        const period = { from: begin * quarterMs, to: (begin + quarters) * quarterMs }
        const found = bucketsOf(clock(name), period, bucket)
        if (E.isLeft(found)) throw new Error(found.left)
        let at = period.from
        for (const { from: start, to } of found.right) {
          expect(start).toBe(at)
          expect(to).toBeGreaterThan(start)
          expect((to - start) % quarterMs).toBe(0)
          at = to
        }
        expect(at).toBe(period.to)
        // All of a bucket but its begin is in the same day, by the format of Intl itself.
        // Until 2011 clocks in Newfoundland went back at one minute past midnight. A period may end in the hour in which it was the day before once more.
        if (bucket !== 'day' || (name === 'America/St_Johns' && period.from < Date.UTC(2012, 0, 1))) return
        const day = new Intl.DateTimeFormat('en-CA', { timeZone: name, dateStyle: 'short' })
        const all = found.right.map(({ from: start, to }) => [day.format(start), day.format(to - 1)])
        for (const [first, last] of all) expect(first).toBe(last)
        expect(new Set(all.map(([first]) => first)).size).toBe(all.length)
      }),
      { numRuns: 60 },
    )
  })

  test('sizes that do not divide a day, too many buckets and zones that are none are refused', () => {
    expect(['month', 'hour', '15', '720', '1440', '7', '20', '0', '-15', '105', 'year', '1e2'].map(bucketSizeOf)).toEqual(['month', 'hour', 15, 720, 1440, undefined, undefined, undefined, undefined, undefined, undefined, undefined])
    expect(bucketsOf(clock('UTC'), { from: 0, to: 10_001 * quarterMs }, 15)).toEqual(E.left(expect.stringContaining('at most 10000 buckets')))
    expect(clockOf('Mars/Olympus')).toEqual(E.left(expect.stringContaining('is not a time zone')))
  })
})
