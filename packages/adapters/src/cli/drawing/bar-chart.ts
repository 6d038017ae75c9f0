/** Values of names as bars that lie on one scale. */
import { barOf } from './bars.js'
import { type Canvas, fit, type Paint, rowsOn } from './canvas.js'
import { greatest } from './scale.js'

export interface Bar {
  readonly name: string
  readonly value: number
  /** What is said beside it. */
  readonly says: string
  readonly paint?: Paint
  /** A value that is marked on the bar's scale: what was due, for example. */
  readonly due?: number
}

export interface BarChart {
  readonly title: string
  readonly bars: ReadonlyArray<Bar>
  /** The end of the scale. Default: the greatest value. */
  readonly most?: number
}

const nameMin = 6
/** So wide that a difference is seen, and no wider than the eye follows. */
const barMax = 60

export const barChart = (canvas: Canvas, { title, bars, most = greatest(bars.flatMap(({ value, due = 0 }) => [value, due])) }: BarChart): ReadonlyArray<string> => {
  const { colors, glyphs, width } = canvas
  const names = greatest(bars.map(({ name }) => name.length))
  const says = greatest(bars.map((bar) => bar.says.length))
  const room = Math.max(4, Math.min(barMax, width - Math.min(names, Math.floor(width / 3)) - says - 4))
  const rows = bars.map(({ name, value, says: text, paint = colors.cyan, due }) => [name, { text: markedBar(canvas, value, due, most, room), paint }, text])
  return [
    fit({ text: title, paint: colors.bold }, width),
    ...rowsOn({ width }, [{ head: '', min: nameMin }, { head: '' }, { head: '' }], rows),
    ...(bars.some(({ due }) => due !== undefined) ? [fit({ text: `${glyphs.due} what was due`, paint: colors.dim }, width)] : []),
  ]
}

/** A bar as wide as the scale, with the mark at its place. */
const markedBar = ({ glyphs }: Canvas, value: number, due: number | undefined, most: number, width: number): string => {
  const bar = [...barOf(glyphs, value, most, width).padEnd(width)]
  if (due !== undefined) bar[Math.min(width - 1, Math.round((most > 0 ? due / most : 0) * (width - 1)))] = glyphs.due
  return bar.join('')
}
