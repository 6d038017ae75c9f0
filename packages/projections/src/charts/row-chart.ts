/** A few values of several things in rows, by group: percentiles of waits, shares of deadlines. */
import { frame, type Heading, label, line, nameLetters, titleHeight, width } from './frame.js'
import { element } from './svg.js'
import { shortName, widthOf } from './theme.js'

export type Mark = 'ring' | 'dot' | 'bar'

export interface ChartRow {
  readonly name: string
  /** The rows that the picture is about. The others are there for comparison. */
  readonly isMain: boolean
  readonly marks: ReadonlyArray<{ readonly mark: Mark; readonly value: number }>
  /** The value in words, at the end of the row. */
  readonly says: string
}

export interface RowChart extends Heading {
  readonly groups: ReadonlyArray<{ readonly name: string; readonly rows: ReadonlyArray<ChartRow> }>
  readonly ticks: ReadonlyArray<{ readonly at: number; readonly label: string }>
  /** The place of a value on the axis, from 0 at the left to 1 at the right. */
  readonly place: (value: number) => number
  /** The heading above the words at the end of rows. */
  readonly saysHead: string
  /** What the marks mean. Empty if there is only one kind of mark. */
  readonly key?: ReadonlyArray<{ readonly mark: Mark; readonly name: string }>
}

const [left, right, rowHeight, groupGap, bottom] = [210, 108, 18, 12, 34]
/** The left end of the groups' names, the right end of the rows' names, and the least space between them. */
const [groupsAt, rowsAt, namesGap] = [16, left - 14, 8]

export const rowChart = ({ title, subtitle, groups, ticks, place, saysHead, key = [] }: RowChart): string => {
  const top = titleHeight + 14
  const rows = groups.reduce((sum, group) => sum + group.rows.length, 0)
  const headHeight = groups.some(needsLine) ? rowHeight : 0
  const plotEnd = top + rows * rowHeight + groups.length * headHeight + Math.max(0, groups.length - 1) * groupGap
  const height = plotEnd + bottom + (key.length > 0 ? 22 : 0)
  const x = (value: number): number => left + Math.min(1, Math.max(0, place(value))) * (width - left - right)
  const drawn: Array<string> = []
  let y = top
  for (const [i, group] of groups.entries()) {
    if (i > 0) y += groupGap
    drawn.push(label(groupsAt, y + 13, shortName(group.name, nameLetters), 'text'))
    y += headHeight
    for (const row of group.rows) {
      drawn.push(rowOf(row, y + rowHeight / 2, x))
      y += rowHeight
    }
  }
  return frame(
    { title, subtitle },
    height,
    label(width - 16, top - 6, saysHead, 'quiet small', 'end'),
    ...ticks.map(({ at, label: name }) => line(x(at), top - 2, x(at), plotEnd + 4, 'grid') + label(x(at), plotEnd + 20, name, 'quiet small', 'middle')),
    ...drawn,
    ...keyOf(key, height - 16),
  )
}

/** Whether the group's name would lie over that of its first row, so that it needs a line of its own. Then all groups have one. */
const needsLine = ({ name, rows: [first] }: RowChart['groups'][number]): boolean =>
  first !== undefined && first.name !== '' && groupsAt + widthOf(shortName(name, nameLetters)) + namesGap > rowsAt - widthOf(first.name, 11)

const rowOf = ({ name, isMain, marks, says }: ChartRow, y: number, x: (value: number) => number): string => {
  const tone = isMain ? 'accent' : 'other'
  const at = marks.map(({ value }) => x(value))
  return [
    label(rowsAt, y + 4, name, isMain ? 'text small' : 'quiet small', 'end'),
    at.length > 1 ? element('line', { x1: Math.min(...at), y1: y, x2: Math.max(...at), y2: y, class: tone, 'stroke-width': isMain ? 3 : 1.5 }) : '',
    ...marks.map(({ mark, value }) => markAt(mark, x(value), y, tone)),
    label(width - 16, y + 4, says, isMain ? 'text small' : 'quiet small', 'end'),
  ].join('')
}

const markAt = (mark: Mark, x: number, y: number, tone: string): string =>
  mark === 'bar'
    ? element('rect', { x: x - 1.5, y: y - 6, width: 3, height: 12, class: tone, 'stroke-width': 0 })
    : element('g', { class: tone }, element('circle', { cx: x, cy: y, r: 4, class: mark === 'ring' ? 'hollow' : undefined, 'stroke-width': 1.5 }))

const keyOf = (key: NonNullable<RowChart['key']>, y: number): ReadonlyArray<string> => {
  let x = left
  return key.map(({ mark, name }) => {
    const said = markAt(mark, x, y - 4, 'other') + label(x + 10, y, name, 'quiet small')
    x += 22 + name.length * 6.2
    return said
  })
}
