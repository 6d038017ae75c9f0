/** Amounts over time: stacked bands, and perhaps a line that they cannot exceed. */
import { scaleLinear } from 'd3-scale'
import { area, line as path, stack } from 'd3-shape'
import { frame, type Heading, label, line, nameLetters, titleHeight, width } from './frame.js'
import { element } from './svg.js'
import { shadeOf, shortName, widthOf } from './theme.js'
import { clockTicks } from './time-ticks.js'

export interface Band {
  readonly name: string
  /** Means over pieces of time of equal length. */
  readonly values: ReadonlyArray<number>
}

export interface TimeChart extends Heading {
  /** What the axis counts. */
  readonly unit: string
  readonly pieceSeconds: number
  /** From the bottom up. */
  readonly bands: ReadonlyArray<Band>
  readonly limit?: Band
}

const [left, right, bottom, plotHeight] = [56, 16, 32, 220]
/** The top of the plot. The axis' unit stands above it. */
const top = titleHeight + 16
const height = top + plotHeight + bottom

/** The height that a label needs of its band, over the label's whole width. */
const labelHeight = 15

export const timeChart = ({ title, subtitle, unit, pieceSeconds, bands, limit }: TimeChart): string => {
  const pieces = Math.max(1, bands[0]?.values.length ?? 0)
  const seconds = pieces * pieceSeconds
  const sums = Array.from({ length: pieces }, (_, i) => bands.reduce((sum, { values }) => sum + (values[i] ?? 0), 0))
  const x = scaleLinear([0, seconds], [left, width - right])
  const y = scaleLinear([0, Math.max(1, ...sums, ...(limit?.values ?? []))], [top + plotHeight, top]).nice(5)
  /** A value is drawn in the middle of its piece. The first and the last also reach to the ends of the time. */
  const xs = [0, ...Array.from({ length: pieces }, (_, i) => (i + 0.5) * pieceSeconds), seconds].map((at) => x(at))
  const padded = (values: ReadonlyArray<number>): ReadonlyArray<number> => [values[0] ?? 0, ...values, values[values.length - 1] ?? 0]
  const rows = xs.map((_, i) => bands.map(({ values }) => padded(values)[i] ?? 0))

  const layers = stack<unknown, ReadonlyArray<number>, number>().keys(bands.map((_, i) => i)).value((row, key) => row[key] ?? 0)([...rows])
  const shape = area<readonly [number, number]>().x((_, i) => xs[i] ?? 0).y0(([low]) => y(low)).y1(([, high]) => y(high)).digits(1)
  const drawn = layers.map((layer, i) => element('path', { d: shape(layer.map(([low, high]) => [low, high] as const)) ?? '', class: `shade${shadeOf(i, bands.length)} edge`, 'stroke-width': 0.75 }))

  const labels: Array<string> = []
  const unlabelled: Array<number> = []
  for (const [i, band] of bands.entries()) {
    const layer = layers[i] ?? []
    const name = shortName(band.name, nameLetters)
    const place = labelPlace(layer, xs, y, widthOf(name) / 2 + 3)
    if (place !== undefined) labels.push(label(place.x, place.y + 4, name, `on${shadeOf(i, bands.length)}`, 'middle'))
    else if (layer.some(([low, high]) => high > low)) unlabelled.push(i)
  }
  const limitLine = limit === undefined ? [] : limitOf(limit, xs, padded(limit.values), y)
  const ticks = y.ticks(5).filter((tick) => Number.isInteger(tick))
  return frame(
    { title, subtitle },
    height,
    ...ticks.map((tick) => line(left, y(tick), width - right, y(tick), 'grid') + label(left - 8, y(tick) + 4, tick.toLocaleString('en-US'), 'quiet small', 'end')),
    label(left - 8, top - 10, unit, 'quiet small', 'end'),
    ...drawn,
    ...clockTicks(seconds).map(({ at, label: name }) => line(x(at), top + plotHeight, x(at), top + plotHeight + 4, 'axis') + label(x(at), height - 14, name, 'quiet small', at === 0 ? 'start' : at >= seconds ? 'end' : 'middle')),
    line(left, top + plotHeight, width - right, top + plotHeight, 'axis'),
    ...limitLine,
    ...labels,
    ...keyOf(unlabelled.map((i) => ({ name: bands[i]?.name ?? '', shade: shadeOf(i, bands.length) }))),
  )
}

type Scale = (value: number) => number
type Span = { readonly 0: number; readonly 1: number }

/** Where a label has most room within a band; `undefined` if it has not enough anywhere. */
const labelPlace = (layer: ReadonlyArray<Span>, xs: ReadonlyArray<number>, y: Scale, half: number): { readonly x: number; readonly y: number } | undefined => {
  let best: { x: number; y: number; room: number } | undefined
  for (const x of xs) {
    if (x - half < left || x + half > width - right) continue
    const under = layer.filter((_, i) => Math.abs((xs[i] ?? 0) - x) <= half)
    const top = Math.max(...under.map((span) => y(span[1])))
    const floor = Math.min(...under.map((span) => y(span[0])))
    if (floor - top >= Math.max(labelHeight, best?.room ?? 0)) best = { x, y: (top + floor) / 2, room: floor - top }
  }
  return best
}

const limitOf = ({ name }: Band, xs: ReadonlyArray<number>, values: ReadonlyArray<number>, y: Scale): ReadonlyArray<string> => {
  const shape = path<number>().x((_, i) => xs[i] ?? 0).y((value) => y(value)).digits(1)
  const highest = values.indexOf(Math.max(...values))
  const at = Math.min(Math.max(xs[highest] ?? left, left), width - right - widthOf(name))
  return [
    element('path', { d: shape([...values]) ?? '', class: 'limit', fill: 'none', 'stroke-width': 1.5, 'stroke-dasharray': '4 3' }),
    label(at, y(values[highest] ?? 0) - 6, name, 'text'),
  ]
}

/** The room for the key, at the right of the title; and of it, what each name needs besides its letters. */
const [keyWidth, keyGap] = [500, 28]

/** The key of the bands that are too thin for a label, at the right above the plot. */
const keyOf = (thin: ReadonlyArray<{ readonly name: string; readonly shade: number }>): ReadonlyArray<string> => {
  const letters = Math.min(nameLetters, Math.floor((keyWidth / thin.length - keyGap) / widthOf('x')))
  let x = width - right
  return [...thin].reverse().map(({ name: whole, shade }) => {
    const name = shortName(whole, letters)
    x -= widthOf(name)
    const said = label(x, 24, name, 'text')
    const swatch = element('rect', { x: x - 15, y: 14, width: 10, height: 10, class: `shade${shade}` })
    x -= keyGap
    return swatch + said
  })
}
