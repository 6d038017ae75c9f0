/**
 * Rows of texts under headings. On a narrow terminal, columns that may be cut are made narrower. If that is not enough, the least important columns
 * are left out. The cost is linear in the rows.
 */
import stringWidth from 'string-width'

export interface Column {
  readonly head: string
  /** Minimum width to which it may be cut. A column without `min` is cut last. */
  readonly min?: number
  /** Columns are left out in this order, the highest number first. A column without a number stays. */
  readonly leaveOut?: number
}

/** A text, and how it is coloured after it was cut to its column. */
export interface Painted {
  readonly text: string
  readonly paint: (text: string) => string
}
export type Cell = string | Painted
export type Row = ReadonlyArray<Cell>

const gap = '  '
const plain = /^[\x20-\x7e]*$/
const textOf = (cell: Cell | undefined): string => (cell === undefined ? '' : typeof cell === 'string' ? cell : cell.text)

/** Number of terminal columns that a text takes: two for a wide character. */
const widthOf = (text: string): number => (plain.test(text) ? text.length : stringWidth(text))

const letters = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** The text, cut to this width. A cut text ends with `…`. */
const cut = (text: string, width: number): string => {
  if (widthOf(text) <= width) return text
  let kept = ''
  let used = 1
  for (const { segment } of letters.segment(text)) {
    used += widthOf(segment)
    if (used > width) break
    kept += segment
  }
  return `${kept}…`
}

/** Which columns are drawn, and how wide each of them is. */
export interface Layout {
  readonly columns: ReadonlyArray<number>
  readonly widths: ReadonlyArray<number>
  /** Headings of the columns that are left out. */
  readonly leftOut: ReadonlyArray<string>
  /** Whether texts that are wider than their column are cut. */
  readonly isBounded: boolean
}

/** The layout for these rows. Without `width` nothing is cut. Columns without any text are left out, unless `hasMore` says that further rows will follow. */
export const layoutOf = (columns: ReadonlyArray<Column>, rows: ReadonlyArray<Row>, width: number | undefined, hasMore = false): Layout => {
  const natural = columns.map(({ head }, i) => rows.reduce((widest, row) => Math.max(widest, widthOf(textOf(row[i]))), widthOf(head)))
  let shown = columns.map((_, i) => i).filter((i) => hasMore || rows.some((row) => textOf(row[i]) !== ''))
  const widths = [...natural]
  if (width === undefined) return { columns: shown, widths, leftOut: [], isBounded: false }

  const missing = (): number => shown.reduce((sum, i) => sum + (widths[i] as number), 0) + gap.length * (shown.length - 1) - width
  const leftOut: Array<string> = []
  for (;;) {
    shown.forEach((i) => (widths[i] = natural[i] as number))
    narrow(widths, shown, missing(), (i) => columns[i]?.min ?? (natural[i] as number))
    if (missing() <= 0) break
    const last = shown.reduce((least, i) => ((columns[i]?.leaveOut ?? 0) > (columns[least]?.leaveOut ?? 0) ? i : least), shown[0] as number)
    if (columns[last]?.leaveOut === undefined) break
    leftOut.push((columns[last] as Column).head)
    shown = shown.filter((i) => i !== last)
  }
  // Still too narrow: now every column may be cut.
  narrow(widths, shown, missing(), () => 1)
  while (missing() > 0 && shown.length > 1) leftOut.push((columns[shown.pop() as number] as Column).head)
  return { columns: shown, widths, leftOut, isBounded: true }
}

/** Makes columns narrower by `places` in all. It always takes the widest column that may become narrower. */
const narrow = (widths: Array<number>, shown: ReadonlyArray<number>, places: number, least: (column: number) => number): void => {
  for (let left = places; left > 0; left--) {
    const able = shown.filter((i) => (widths[i] as number) > least(i))
    if (able.length === 0) return
    const widest = able.reduce((best, i) => ((widths[i] as number) > (widths[best] as number) ? i : best))
    widths[widest] = (widths[widest] as number) - 1
  }
}

/** One line, without trailing blanks. */
export const lineOf = ({ columns, widths, isBounded }: Layout, row: Row): string => {
  let line = ''
  let blanks = 0
  for (const i of columns) {
    const cell = row[i]
    const text = isBounded ? cut(textOf(cell), widths[i] as number) : textOf(cell)
    if (text !== '') {
      line += ' '.repeat(blanks) + (cell === undefined || typeof cell === 'string' ? text : cell.paint(text))
      blanks = 0
    }
    blanks += Math.max(0, (widths[i] as number) - widthOf(text)) + gap.length
  }
  return line
}
