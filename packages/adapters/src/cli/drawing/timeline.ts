/** What happened one after the other: when, and how long it was until the next thing happened. */
import { lengthText } from '@daybook/projections/charts'
import { type Canvas, fit } from './canvas.js'
import { layoutOf, lineOf, type Column } from '../table.js'

export interface Moment {
  /** In milliseconds since 1970. */
  readonly at: number
  readonly name: string
  readonly by: string
  readonly about: string
}

const columns: ReadonlyArray<Column> = [{ head: 'AT' }, { head: 'EVENT', min: 8 }, { head: '' }, { head: 'FOR' }, { head: 'BY', min: 5, leaveOut: 1 }, { head: 'FACTS', min: 8, leaveOut: 2 }]
const trackMax = 40

/** `12ms`, `3.2s`, `1h 4m`. */
const spanText = (ms: number): string => (ms < 1_000 ? `${Math.max(0, Math.round(ms))}ms` : lengthText(ms / 1_000))

/** A line for each moment, in the order of time. A line of the track begins where the thing happened, and ends where the next one did. */
export const timeline = ({ colors, glyphs, width }: Canvas, moments: ReadonlyArray<Moment>): ReadonlyArray<string> => {
  const [first, last] = [moments[0], moments[moments.length - 1]]
  if (first === undefined || last === undefined) return []
  const whole = Math.max(1, last.at - first.at)
  const track = Math.max(8, Math.min(trackMax, Math.floor(width / 4)))
  const cell = (at: number): number => Math.round(((at - first.at) / whole) * (track - 1))
  const rows = moments.map(({ at, name, by, about }, i) => {
    const next = moments[i + 1]
    const begin = cell(at)
    const end = next === undefined ? begin : cell(next.at)
    return [
      `+${spanText(at - first.at)}`,
      name,
      { text: `${' '.repeat(begin)}${glyphs.mark}${glyphs.line.repeat(Math.max(0, end - begin))}`, paint: colors.cyan },
      next === undefined ? '' : spanText(next.at - at),
      by,
      about,
    ]
  })
  const heads = columns.map(({ head }) => ({ text: head, paint: colors.bold }))
  const layout = layoutOf(columns, rows, width)
  return [fit({ text: `${spanText(last.at - first.at)} from the first event to the last`, paint: colors.dim }, width), ...[heads, ...rows].map((row) => lineOf(layout, row))]
}
