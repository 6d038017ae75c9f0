/** The states of several things over time: a strip for each. */
import { frame, type Heading, label, line, nameLetters, titleHeight, width } from './frame.js'
import { keyLines } from './key.js'
import { element } from './svg.js'
import { shortName } from './theme.js'

/** `full`: a high bar. `half`: a low bar. `line`: a thin line. */
export type StripMark = 'full' | 'half' | 'line'

export interface StripChart extends Heading {
  readonly from: number
  readonly to: number
  readonly rows: ReadonlyArray<{ readonly name: string; readonly spans: ReadonlyArray<{ readonly from: number; readonly to: number; readonly mark: StripMark }>; readonly says: string }>
  readonly times: ReadonlyArray<{ readonly at: number; readonly label: string }>
  readonly saysHead: string
  readonly key: ReadonlyArray<{ readonly mark: StripMark; readonly name: string }>
}

const [left, right, rowHeight, bottom] = [210, 108, 26, 34]
const heights: Readonly<Record<StripMark, number>> = { full: 16, half: 7, line: 1.5 }

export const stripChart = ({ title, subtitle, from, to, rows, times, saysHead, key }: StripChart): string => {
  const marks = keyLines(rows.length === 0 ? [] : key.map(({ mark, name }) => ({ name, swatch: (x, y) => strip(x, x + 20, y, mark) })), titleHeight + 6)
  const top = titleHeight + marks.height + 18
  const plotEnd = top + rows.length * rowHeight
  const x = (at: number): number => left + ((Math.min(Math.max(at, from), to) - from) / Math.max(1, to - from)) * (width - left - right)
  return frame(
    { title, subtitle },
    plotEnd + bottom,
    ...marks.drawn,
    label(width - 16, top - 6, saysHead, 'quiet small', 'end'),
    ...times.map(({ at, label: name }) => line(x(at), top - 2, x(at), plotEnd + 4, 'grid') + label(x(at), plotEnd + 20, name, 'quiet small', 'middle')),
    ...rows.flatMap(({ name, spans, says }, i) => {
      const y = top + (i + 0.5) * rowHeight
      return [label(16, y + 4, shortName(name, nameLetters), 'text'), ...spans.map(({ from: begin, to: end, mark }) => strip(x(begin), x(end), y, mark)), label(width - 16, y + 4, says, 'text small', 'end')]
    }),
  )
}

/** Even a short span is drawn so wide that it can be seen. */
const strip = (begin: number, end: number, y: number, mark: StripMark): string =>
  element('rect', { x: begin, y: y - heights[mark] / 2, width: Math.max(mark === 'line' ? 0.5 : 1.5, end - begin), height: heights[mark], class: mark === 'line' ? 'other' : 'accent', 'stroke-width': 0 })
