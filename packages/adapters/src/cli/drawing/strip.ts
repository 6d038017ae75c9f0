/** States over time as one line: a cell shows the gravest state in it, so that a short one is not lost. */
import { type Canvas, fit, type Paint, rowsOn } from './canvas.js'
import { greatest, labelLine } from './scale.js'

export interface Segment {
  /** In milliseconds since 1970. */
  readonly from: number
  readonly to: number
  /** Index into the chart's states. */
  readonly state: number
}

export interface StripChart {
  readonly title: string
  readonly from: number
  readonly to: number
  /** From the least to the gravest. */
  readonly states: ReadonlyArray<{ readonly name: string; readonly glyph: string; readonly paint: Paint }>
  readonly rows: ReadonlyArray<{ readonly name: string; readonly says: string; readonly segments: ReadonlyArray<Segment> }>
  /** The two ends of the axis. */
  readonly labels: readonly [string, string]
}

/** The state of each of `width` cells between two times; -1 where nothing is known. */
export const cellsOfStrip = (segments: ReadonlyArray<Segment>, from: number, to: number, width: number): ReadonlyArray<number> => {
  const cells = Array.from({ length: width }, () => -1)
  const at = (time: number): number => ((time - from) / Math.max(1, to - from)) * width
  for (const { from: begin, to: end, state } of segments) {
    const first = Math.max(0, Math.floor(at(begin)))
    const last = Math.min(width - 1, Math.max(first, Math.ceil(at(end)) - 1))
    for (let i = first; i <= last; i++) cells[i] = Math.max(cells[i] as number, state)
  }
  return cells
}

export const stripChart = (canvas: Canvas, { title, from, to, states, rows, labels }: StripChart): ReadonlyArray<string> => {
  const { colors, width } = canvas
  const names = Math.min(greatest(rows.map(({ name }) => name.length)), Math.floor(width / 3))
  const says = greatest(rows.map((row) => row.says.length))
  const room = Math.max(8, width - names - says - 4)
  const paintOf = (letter: string): Paint => states.find(({ glyph }) => glyph === letter)?.paint ?? String
  const drawn = rows.map(({ name, says: text, segments }) => [
    name,
    {
      text: cellsOfStrip(segments, from, to, room).map((state) => states[state]?.glyph ?? ' ').join(''),
      paint: (line: string) => [...line].map((letter) => paintOf(letter)(letter)).join(''),
    },
    text,
  ])
  const ends = labelLine([[names + 2, labels[0]], [names + 2 + room - labels[1].length, labels[1]]], width)
  return [
    fit({ text: title, paint: colors.bold }, width),
    ...rowsOn({ width }, [{ head: '', min: Math.min(names, 6) }, { head: '' }, { head: '' }], drawn),
    colors.dim(ends),
    fit({ text: states.map(({ name, glyph }) => `${glyph} ${name}`).join('  '), paint: colors.dim }, width),
  ]
}
