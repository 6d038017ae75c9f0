/** EV-05: pictures of reports are well-formed, say the figures, stay within their frame, and are legible in light, in the dark and in print. */
import { clockOf, type Dimension, pictureOf, quarterMs, type ReportName, reportNames, reportOf, type ReportSource, sketchText } from '@daybook/projections/reports'
import { rowChart, timeChart } from '@daybook/projections/charts'
import * as E from 'fp-ts/lib/Either.js'
import { expect, test } from 'vitest'
import { parsed, textsOf } from '../support/svg.js'

const begin = Date.UTC(2026, 9, 24, 22)
const values: Readonly<Record<string, ReadonlyArray<string>>> = { all: [''], tenant: ['acme', '<script>alert("&")</script>', 'a tenant with a name that is too long for any picture of this width, and goes on', 'd', 'e', 'f', 'g', ''] }
const times = (ms: number): string => sketchText(new Map([[ms, 3], [ms + 200, 1]]))

const source = (days: number, isEmpty: boolean): ReportSource => ({
  rollups: (by) =>
    isEmpty ? [] : Array.from({ length: days * 96 + 4 }, (_, i) => (values[by] ?? ['']).map((value, place) => ({
      quarter_hour: begin + i * quarterMs, value, enqueued: 9, imported: 0, claimed: 8 - place, completed: 7, failed: 1, expired: 0, retried: 1, dead_lettered: 0, cancelled: 0, rate_limited: 0,
      wait_ms: 8_000, run_ms: 7_000, deadlines: 4, deadlines_met: 3, wait_sketch: times(100), run_sketch: times(400),
    }))).flat(),
  sizes: (by) => (values[by] ?? ['']).map((value, i) => [value, 100 - i]),
  failures: () => (isEmpty ? [] : ['refused', 'no space left on the device of the machine that was asked to keep all of it', ']]>'].map((signature, i) => ({ queue: 'q', dimension: 'all', quarter_hour: begin, value: '', signature, failures: i + 1, error: signature }))),
  breakerSpans: () => (isEmpty ? [] : [
    { queue: 'q', type: 'mow', revision: 1, state: 'open', began_at: begin + 3_600_000, ended_at: begin + 7_200_000, cause: 'threshold', reason: null },
    { queue: 'q', type: 'mow', revision: 2, state: 'half-open', began_at: begin + 7_200_000, ended_at: null, cause: null, reason: null },
  ]),
  backlogs: () => (values.tenant ?? []).slice(0, 3).map((tenant) => ({ tenant, from: begin, to: undefined })),
  weights: () => [{ tenant: 'acme', at: 0, weight: 3 }],
})

const draw = (report: ReportName, bucket: 'total' | 'hour' | 'day' = 'hour', by: Dimension = 'all', days = 1, isEmpty = false): string => {
  const clock = clockOf('Europe/Berlin')
  if (E.isLeft(clock)) throw new Error(clock.left)
  // The first day has 25 hours.
  const period = { from: begin, to: begin + days * 86_400_000 + 3_600_000 }
  const found = reportOf({ report, period, clock: clock.right, bucket, by: report === 'fairness' ? 'tenant' : by, top: 20, now: begin + 400 * 86_400_000 }, source(days, isEmpty))
  if (E.isLeft(found)) throw new Error(found.left)
  return pictureOf(found.right, { queue: 'default', revision: 812 })
}

const shown = { queue: 'default', revision: 812 }
/** A report with a failure of each of these errors, which have different signatures; in the second hour with one more. */
const reportWith = (report: ReportName, bucket: 'total' | 'hour', errors: ReadonlyArray<string>, top: number) => {
  const clock = clockOf('UTC')
  if (E.isLeft(clock)) throw new Error(clock.left)
  const failures = [...errors.map((error, i) => [begin, error, i] as const), ...errors.slice(1).map((error, i) => [begin + 3_600_000, error, i + 1] as const)]
  const found = reportOf({ report, period: { from: begin, to: begin + 7_200_000 }, clock: clock.right, bucket, by: 'all', top, now: begin + 86_400_000 }, {
    ...source(1, true), failures: () => failures.map(([quarter_hour, error, i]) => ({ queue: 'q', dimension: 'all', quarter_hour, value: '', signature: `s${i}`, failures: 40 - i, error })),
  })
  if (E.isLeft(found)) throw new Error(found.left)
  return found.right
}

const expectWhole = (svg: string, name: string): void => {
  expect(svg, name).not.toMatch(/NaN|Infinity|undefined|<script/)
  const [root, ...elements] = parsed(svg)
  const [width, height] = [Number(root?.attributes.width), Number(root?.attributes.height)]
  for (const { name: kind, attributes: { x, y, 'text-anchor': anchor }, text } of elements) {
    if (kind === 'rect') expect(Number(y ?? 0), name).toBeGreaterThanOrEqual(0)
    if (kind !== 'text') continue
    const long = text.length * 5.4
    const start = Number(x) - (anchor === 'end' ? long : anchor === 'middle' ? long / 2 : 0)
    expect([start >= 0, start + long <= width, Number(y) > 0, Number(y) <= height], `${name}: ${text}`).toEqual([true, true, true, true])
  }
  // In print it is light, whatever the reader's scheme.
  expect(svg).toContain('@media screen and (prefers-color-scheme:dark)')
}

test('EV-05: every picture, by bucket and group, full and empty, is whole and the same each time', () => {
  for (const report of reportNames) {
    for (const bucket of ['total', 'hour', 'day'] as const) {
      for (const by of ['all', 'tenant'] as const) {
        const svg = draw(report, bucket, by, bucket === 'day' ? 40 : 1)
        expectWhole(svg, `${report} by ${bucket} and ${by}`)
        expect(draw(report, bucket, by, bucket === 'day' ? 40 : 1)).toBe(svg)
        expectWhole(draw(report, bucket, by, 1, true), `empty ${report}`)
      }
    }
  }
})

test('EV-05: pictures say what they are about, and their figures', () => {
  const about = 'queue default, 2026-10-25 to 2026-10-26, Europe/Berlin, up to revision 812'
  for (const report of reportNames) expect(textsOf(draw(report)).some((text) => text.includes(about)), report).toBe(true)
  expect(textsOf(draw('deadlines', 'total', 'tenant'))).toContain('75.0 %')
  expect(textsOf(draw('failures', 'total'))).toEqual(expect.arrayContaining(['refused', '1', '3']))
  // Signatures with the same error are two bars, and the groups that are summed are one.
  expect(textsOf(pictureOf(reportWith('failures', 'total', ['full', 'full', 'full', 'full'], 2), shown)).filter((text) => text === 'full' || text === '2 others')).toEqual(['2 others', 'full', 'full'])
  expect(textsOf(pictureOf(reportWith('failures', 'hour', ['full', 'full', 'full', 'full'], 2), shown)).filter((text) => text.includes('others'))).toEqual(['others'])
  expect(textsOf(draw('breakers'))).toEqual(expect.arrayContaining(['mow', 'open', 'half-open', 'closed', '1h']))
  // acme has three fifths of the weight, and the same claims as the others but one or two.
  expect(textsOf(draw('fairness'))).toContain('0.63')
  expect(textsOf(draw('fairness', 'hour', 'all', 1, true)).join()).toContain('no two tenants could be compared')
  expect(textsOf(draw('latency'))).toEqual(expect.arrayContaining(['P50', 'P95', 'P99', 'wait']))
})

test('EV-05: a picture counts the groups that the report has summed as well', () => {
  const errors = Array.from({ length: 30 }, (_, i) => `error ${i}`)
  const said = (bucket: 'total' | 'hour', top: number): string => textsOf(pictureOf(reportWith('failures', bucket, errors, top), shown)).filter((text) => /others|are shown/.test(text)).join(' | ')
  expect(said('total', 25)).toContain('24 of 30 are shown')
  expect(said('total', 100)).toContain('24 of 30 are shown')
  // Without sums, five have bars of their own.
  expect(said('hour', 100)).toBe('25 others')
  // Those that are summed differ from hour to hour, so nobody knows how many they are.
  expect(said('hour', 20)).toBe('others')
  expect(said('hour', 1)).toBe('others')
})

test('EV-05: a picture that leaves out groups says so, and the lines are those of the largest', () => {
  const clock = clockOf('UTC')
  if (E.isLeft(clock)) throw new Error(clock.left)
  const drawn = (report: ReportName, bucket: 'total' | 'hour', names: ReadonlyArray<string>): string => {
    const period = { from: begin, to: begin + 2 * 3_600_000 }
    // The first one comes only in the second hour, and is the largest.
    const rollups: ReportSource['rollups'] = () => names.flatMap((value, i) => (i === 0 ? [1] : [0, 1]).map((hour) => [hour, value, i] as const)).sort(([a], [b]) => a - b).map(([hour, value, i]) => ({
      quarter_hour: begin + hour * 3_600_000, value, enqueued: 900 - i, imported: 0, claimed: i === 0 ? 2_000 : 900 - i, completed: 7, failed: 1, expired: 0, retried: 1, dead_lettered: 0, cancelled: 0, rate_limited: 0,
      wait_ms: 8_000, run_ms: 7_000, deadlines: 4, deadlines_met: 3, wait_sketch: times(100), run_sketch: times(400),
    }))
    const breakerSpans: ReportSource['breakerSpans'] = () => names.map((type, i) => ({ queue: 'q', type, revision: i, state: 'open', began_at: begin, ended_at: null, cause: 'threshold', reason: null }))
    const found = reportOf({ report, period, clock: clock.right, bucket, by: 'type', top: 1_000, now: begin + 86_400_000 }, { ...source(1, true), rollups, breakerSpans, sizes: () => names.map((value, i) => [value, i === 0 ? 2_000 : 1_800 - 2 * i]) })
    if (E.isLeft(found)) throw new Error(found.left)
    return pictureOf(found.right, shown)
  }
  const names = Array.from({ length: 30 }, (_, i) => `type-${i}`)
  for (const report of ['throughput', 'summary', 'retries', 'deadlines', 'breakers'] as const) {
    expect(textsOf(drawn(report, 'total', names)).some((text) => text.includes('24 of 30 are shown')), report).toBe(true)
    expect(textsOf(drawn(report, 'total', names.slice(0, 24))).join(), report).not.toContain('are shown')
  }
  expect(textsOf(drawn('latency', 'hour', names)).filter((text) => text.startsWith('type-'))).toEqual(names.slice(0, 6))
})

test('EV-05: the axis of a day of 25 hours has no times on top of each other', () => {
  const times = parsed(draw('throughput')).filter(({ name, text }) => name === 'text' && /^(\d\d:\d\d|Oct \d+)$/.test(text))
  expect(times.map(({ text }) => text)).toEqual(['Oct 25', '03:00', '06:00', '09:00', '12:00', '15:00', '18:00', '21:00'])
  const places = times.map(({ attributes }) => Number(attributes.x))
  places.slice(1).forEach((place, i) => expect(place - (places[i] ?? 0)).toBeGreaterThan(40))
})

test('EV-05: the picture of a summary with several buckets shows all of them', () => {
  const points = parsed(draw('summary', 'hour')).flatMap(({ name, attributes: { d = '' } }) => (name === 'path' ? [d.match(/[ML]/g)?.length] : []))
  // A line for each percentile, with a point for each of the 25 hours; and three in the key.
  expect(points.filter((count) => count !== 2)).toEqual([25, 25, 25])
  expect(textsOf(draw('summary', 'total'))).toContain('P50: half wait less')
})

test('EV-05: names are cut to the room that they have, and wide letters count twice', () => {
  const rowsOf = (name: string): ReadonlyArray<string> => textsOf(rowChart({ title: 't', subtitle: name.repeat(9), saysHead: 'v', place: () => 0, ticks: [], groups: [{ name, rows: [{ name: '', isMain: true, says: '', marks: [] }] }] }))
  const latin = 'a tenant with a name of more than 28 letters'
  expect(rowsOf(latin)).toContain('a tenant with a name of mor…')
  const japanese = '株式会社東京営業本部第一課と第二課と第三課'
  expect(rowsOf(japanese)).toContain('株式会社東京営業本部第一課…')
  expect(rowsOf(japanese).filter((text) => text.startsWith(japanese)).map(({ length }) => length)).toEqual([59])
  const key = timeChart({ title: 't', subtitle: 's', unit: 'u', pieceSeconds: 1, bands: ['a', 'b', 'c', 'd', 'e', 'f'].map((letter, i) => ({ name: letter.repeat(90), values: [i === 0 ? 1_000 : 1] })) })
  for (const { name, attributes: { x }, text } of parsed(key)) if (name === 'text') expect(Number(x), text).toBeGreaterThan(12)
})
