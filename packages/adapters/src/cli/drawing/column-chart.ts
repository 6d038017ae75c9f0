/** Values over time as columns that stand on an axis. */
import { type Canvas, fit, type Paint } from './canvas.js'
import { greatest, joined, labelLine, type Point, roundUp, total } from './scale.js'

export interface ColumnChart {
  readonly title: string
  readonly points: ReadonlyArray<Point>
  /** A value as text. */
  readonly told: (value: number) => string
  readonly paint: Paint
  /** What a column shows of several points that share it: their sum, or the greatest of them. */
  readonly shares: 'total' | 'greatest'
  /** The top of the scale, if several charts have the same. Default: that of its own values. */
  readonly most?: number
  /** In lines. Default 6. */
  readonly height?: number
}

const columnMax = 8

export const columnChart = (canvas: Canvas, { title, points: given, told, paint, shares, most, height = 6 }: ColumnChart): ReadonlyArray<string> => {
  const { glyphs, colors, width } = canvas
  const join = shares === 'total' ? total : greatest
  // The widest label is that of the top, which is known only when it is known how many points share a column.
  const points = joined(given, Math.max(1, width - 12), join)
  const top = roundUp(most !== undefined && points === given ? most : greatest(points.flatMap(({ value }) => value ?? [])))
  const gutter = Math.min(10, Math.max(told(top).length, 1))
  const room = Math.max(1, width - gutter - 2)
  const cell = Math.max(1, Math.min(columnMax, Math.floor(room / points.length)))
  const bar = cell >= 3 ? cell - 1 : cell
  const steps = glyphs.heights.length
  const level = ({ value }: Point): number => (value === null || value <= 0 ? 0 : Math.max(1, Math.round((value / top) * height * steps)))
  const levels = points.map(level)
  const lines = Array.from({ length: height }, (_, i) => {
    const row = height - 1 - i
    const label = i === 0 ? told(top) : ''
    const cells = levels.map((filled) => {
      const part = Math.min(steps, filled - row * steps)
      return (part <= 0 ? ' ' : (glyphs.heights[part - 1] as string)).repeat(bar).padEnd(cell)
    })
    const plot = cells.join('').trimEnd()
    return `${colors.dim(`${label.padStart(gutter)} ${glyphs.wall}`)}${plot === '' ? '' : paint(plot)}`
  })
  const axis = `${'0'.padStart(gutter)} ${glyphs.corner}${glyphs.line.repeat(Math.min(room, cell * points.length))}`
  const labels = labelLine(points.map(({ label }, i) => [gutter + 2 + i * cell, label]), width)
  return [fit({ text: title, paint: colors.bold }, width), ...lines, colors.dim(axis), colors.dim(labels)]
}
