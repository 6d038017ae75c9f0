/** Several values over time as lines: Braille has eight dots in each cell. In ASCII, each line has a letter of its own. */
import { type Canvas, fit, type Paint } from './canvas.js'
import { greatest, joined, labelLine, type Point, roundUp } from './scale.js'

export interface Line {
  readonly name: string
  readonly points: ReadonlyArray<Point>
  readonly paint: Paint
}

export interface LineChart {
  readonly title: string
  /** All with the same labels. */
  readonly lines: ReadonlyArray<Line>
  readonly told: (value: number) => string
  /** The end of the scale, for the greatest value. Default: the next round number. */
  readonly topOf?: (most: number) => number
  /** In lines of text. Default 8. */
  readonly height?: number
}

/** The bits of the dots of a cell, by row and column. */
const dots = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]] as const
const braille = 0x2800

/** Cells with the dots that are set, and the line that set one last. */
class Plot {
  private readonly bits: Array<number>
  private readonly owners: Array<number>

  constructor(readonly columns: number, readonly rows: number) {
    this.bits = Array.from({ length: columns * rows }, () => 0)
    this.owners = Array.from({ length: columns * rows }, () => -1)
  }

  /** `x` and `y` in dots, from the left and from the bottom. */
  set(x: number, y: number, owner: number): void {
    const row = this.rows - 1 - Math.floor(y / 4)
    const at = row * this.columns + Math.floor(x / 2)
    this.bits[at] = (this.bits[at] ?? 0) | ((dots[3 - (y % 4)] as (typeof dots)[number])[x % 2] as number)
    this.owners[at] = owner
  }

  cell(column: number, row: number): { readonly bits: number; readonly owner: number } {
    const at = row * this.columns + column
    return { bits: this.bits[at] ?? 0, owner: this.owners[at] ?? -1 }
  }
}

const draw = (plot: Plot, points: ReadonlyArray<Point>, top: number, owner: number): void => {
  const [width, height] = [plot.columns * 2 - 1, plot.rows * 4 - 1]
  const xOf = (i: number): number => (points.length === 1 ? 0 : Math.round((i / (points.length - 1)) * width))
  const yOf = (value: number): number => Math.round(Math.min(1, Math.max(0, value / top)) * height)
  points.forEach(({ value }, i) => {
    if (value === null) return
    const next = points[i + 1]?.value
    const [x, y] = [xOf(i), yOf(value)]
    plot.set(x, y, owner)
    if (next === null || next === undefined) return
    const [toX, toY] = [xOf(i + 1), yOf(next)]
    const steps = Math.max(toX - x, Math.abs(toY - y))
    for (let step = 1; step < steps; step++) plot.set(Math.round(x + ((toX - x) * step) / steps), Math.round(y + ((toY - y) * step) / steps), owner)
  })
}

/** Names beside the ends of their lines, each on a row of its own. */
const namesByRow = (lines: ReadonlyArray<Line>, top: number, height: number): ReadonlyMap<number, number> => {
  const rows = new Map<number, number>()
  lines.forEach(({ points }, index) => {
    const last = points.reduce<number | null>((before, { value }) => value ?? before, null) ?? 0
    const wanted = height - 1 - Math.round(Math.min(1, last / top) * (height - 1))
    const free = Array.from({ length: height }, (_, row) => row).filter((row) => !rows.has(row)).sort((a, b) => Math.abs(a - wanted) - Math.abs(b - wanted))[0]
    if (free !== undefined) rows.set(free, index)
  })
  return rows
}

export const lineChart = (canvas: Canvas, { title, lines: given, told, topOf = roundUp, height = 8 }: LineChart): ReadonlyArray<string> => {
  const { glyphs, colors, width } = canvas
  const lines = given.map((line) => ({ ...line, points: joined(line.points, Math.max(2, width * 2), greatest) }))
  const top = topOf(greatest(lines.flatMap(({ points }) => points.flatMap(({ value }) => value ?? []))))
  const gutter = Math.min(10, told(top).length)
  const nameWidth = greatest(lines.map(({ name }) => name.length)) + 3
  const columns = Math.max(2, width - gutter - 2 - nameWidth)
  const plot = new Plot(columns, height)
  lines.forEach(({ points }, index) => draw(plot, points, top, index))
  const names = namesByRow(lines, top, height)
  const rows = Array.from({ length: height }, (_, row) => {
    const cells = Array.from({ length: columns }, (__, column) => {
      const { bits, owner } = plot.cell(column, row)
      if (bits === 0) return ' '
      return (lines[owner] as Line).paint(glyphs.hasBraille ? String.fromCodePoint(braille + bits) : letterOf(owner))
    }).join('')
    const name = names.get(row)
    const line = name === undefined ? undefined : lines[name]
    return `${colors.dim(`${(row === 0 ? told(top) : '').padStart(gutter)} ${glyphs.wall}`)}${line === undefined ? cells.trimEnd() : `${cells} ${line.paint(`${glyphs.hasBraille ? glyphs.line : letterOf(name as number)} ${line.name}`)}`}`
  })
  const points = lines[0]?.points ?? []
  const cellOf = (i: number): number => (points.length === 1 ? 0 : Math.round((i / (points.length - 1)) * (columns - 1)))
  const labels = labelLine(points.map(({ label }, i) => [gutter + 2 + cellOf(i), label]), width)
  return [fit({ text: title, paint: colors.bold }, width), ...rows, colors.dim(`${'0'.padStart(gutter)} ${glyphs.corner}${glyphs.line.repeat(columns)}`), colors.dim(labels)]
}

const letterOf = (index: number): string => '.o*#'.charAt(index % 4)
