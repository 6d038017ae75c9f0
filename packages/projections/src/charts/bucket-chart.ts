/** A chart of consecutive times, which may differ in length: stacked bars, and lines. */
import { frame, type Heading, label, line, titleHeight, width } from './frame.js'
import { type KeyEntry, keyLines } from './key.js'
import { element } from './svg.js'
import { shadeOf } from './theme.js'

export interface Bucket {
  /** In any unit, the same for all buckets. */
  readonly from: number
  readonly to: number
}

export interface Series {
  readonly name: string
  /** A value for each bucket; `null` where there is none. */
  readonly values: ReadonlyArray<number | null>
  /** The series that the picture is about. */
  readonly isMain?: boolean
}

export interface BucketChart extends Heading {
  /** What the axis counts. */
  readonly unit: string
  readonly buckets: ReadonlyArray<Bucket>
  /** From the bottom up. */
  readonly bars: ReadonlyArray<Series>
  readonly lines: ReadonlyArray<Series>
  readonly times: ReadonlyArray<{ readonly at: number; readonly label: string }>
  readonly ticks: ReadonlyArray<{ readonly at: number; readonly label: string }>
  /** The place of a value on the axis, from 0 at the bottom to 1 at the top. */
  readonly place: (value: number) => number
}

const [left, right, bottom, plotHeight] = [64, 16, 32, 220]
/** Lines differ by their dashes, so that nobody needs colours to tell them apart. */
const dashes = [undefined, '7 3', '2 3', '9 3 2 3', '4 4', '12 4']

export const bucketChart = ({ title, subtitle, unit, buckets, bars, lines, times, ticks, place }: BucketChart): string => {
  const key = keyLines(bars.length + lines.length > 1 ? [...bars.map((_, i) => barKey(bars, i)), ...lines.map((_, i) => lineKey(lines, i))] : [], titleHeight + 6)
  const top = titleHeight + key.height + 18
  const height = top + plotHeight + bottom
  const [begin, end] = [buckets[0]?.from ?? 0, buckets[buckets.length - 1]?.to ?? 1]
  const x = (at: number): number => left + ((at - begin) / Math.max(1, end - begin)) * (width - left - right)
  const y = (value: number): number => top + plotHeight - Math.min(1, Math.max(0, place(value))) * plotHeight
  return frame(
    { title, subtitle },
    height,
    ...key.drawn,
    ...ticks.map(({ at, label: name }) => line(left, y(at), width - right, y(at), 'grid') + label(left - 8, y(at) + 4, name, 'quiet small', 'end')),
    label(16, top - 10, unit, 'quiet small'),
    ...barsOf(bars, buckets, x, y),
    ...lines.flatMap((series, i) => lineOf(series, i, buckets, x, y)),
    ...times.map(({ at, label: name }) => line(x(at), top + plotHeight, x(at), top + plotHeight + 4, 'axis') + label(x(at), height - 14, name, 'quiet small', x(at) < left + 20 ? 'start' : x(at) > width - right - 20 ? 'end' : 'middle')),
    line(left, top + plotHeight, width - right, top + plotHeight, 'axis'),
  )
}

type Scale = (value: number) => number

const barsOf = (bars: ReadonlyArray<Series>, buckets: ReadonlyArray<Bucket>, x: Scale, y: Scale): ReadonlyArray<string> =>
  buckets.flatMap(({ from, to }, place) => {
    const gap = x(to) - x(from) > 6 ? 1 : 0
    let sum = 0
    return bars.flatMap(({ values }, i) => {
      const value = values[place] ?? 0
      if (value <= 0) return []
      const [low, high] = [y(sum), y(sum + value)]
      sum += value
      return [element('rect', { x: x(from) + gap / 2, y: high, width: Math.max(0.5, x(to) - x(from) - gap), height: low - high, class: `shade${shadeOf(i, bars.length)} edge`, 'stroke-width': bars.length > 1 ? 0.5 : 0 })]
    })
  })

/** A line has gaps where there is no value; a value between two gaps is a dot. */
const lineOf = ({ values, isMain = false }: Series, index: number, buckets: ReadonlyArray<Bucket>, x: Scale, y: Scale): ReadonlyArray<string> => {
  const tone = isMain ? 'accent' : 'other'
  const runs: Array<Array<readonly [number, number]>> = [[]]
  for (const [place, { from, to }] of buckets.entries()) {
    const value = values[place] ?? null
    if (value === null) runs.push([])
    else runs[runs.length - 1]?.push([x((from + to) / 2), y(value)])
  }
  return runs.flatMap((points) => {
    const [first] = points
    if (first === undefined) return []
    if (points.length === 1) return [element('circle', { cx: first[0], cy: first[1], r: 3, class: tone })]
    return [stroke(points.map(([px, py], i) => `${i === 0 ? 'M' : 'L'}${px.toFixed(1)},${py.toFixed(1)}`).join(''), tone, isMain, index)]
  })
}

const stroke = (d: string, tone: string, isMain: boolean, index: number): string =>
  element('path', { d, class: tone, style: 'fill:none', 'stroke-width': isMain ? 2.25 : 1.5, 'stroke-dasharray': dashes[index % dashes.length] })

const barKey = (bars: ReadonlyArray<Series>, i: number): KeyEntry => ({
  name: bars[i]?.name ?? '',
  swatch: (x, y) => element('rect', { x, y: y - 5, width: 20, height: 10, class: `shade${shadeOf(i, bars.length)}` }),
})

const lineKey = (lines: ReadonlyArray<Series>, i: number): KeyEntry => ({
  name: lines[i]?.name ?? '',
  swatch: (x, y) => stroke(`M${x},${y}L${x + 20},${y}`, lines[i]?.isMain === true ? 'accent' : 'other', lines[i]?.isMain === true, i),
})
