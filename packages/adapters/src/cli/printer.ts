/** The output of a command: one JSON document for programs, or tables for people. */
import pc from 'picocolors'
import type { Io } from './io.js'
import { clearProgress } from './progress.js'
import { type Cell, type Column, type Layout, layoutOf, lineOf, type Painted, type Row } from './table.js'
import { clean } from './text.js'

export type Colors = ReturnType<typeof pc.createColors>

/** A table or a JSON list that is printed page by page. */
export interface Pages<T> {
  readonly page: (items: ReadonlyArray<T>) => Promise<void>
  readonly end: () => void
}

export interface Printer {
  readonly isJson: boolean
  readonly colors: Colors
  /** For what is printed on stderr, which may be a file while stdout is a terminal. */
  readonly errColors: Colors
  /** The width of the terminal, or COLUMNS. `undefined` in a pipe, where nothing is cut. */
  readonly width: number | undefined
  /** Prints the answer: `value` with `--json`, otherwise whatever `people` prints. */
  readonly answer: (value: unknown, people: () => void) => void
  readonly line: (text?: string) => void
  /** Prints rows under headings, as wide as the terminal; without rows it prints `empty`. Columns without any text are left out. */
  readonly table: (columns: ReadonlyArray<string | Column>, rows: ReadonlyArray<Row>, empty?: string) => void
  /** A table of any number of rows. Its columns are laid out for the first page. */
  readonly tablePages: (columns: ReadonlyArray<string | Column>, empty?: string) => Pages<Row>
  /** `{"NAME":[…]}` for any number of items, one per line. `more`: the members after the list. */
  readonly jsonPages: (name: string, more: () => Readonly<Record<string, unknown>>) => Pages<unknown>
  /** Names and values, one pair per line. Names without a value are left out. */
  readonly pairs: (pairs: ReadonlyArray<readonly [string, string | undefined]>) => void
  /** Says that there is nothing, as a table without rows does. */
  readonly nothing: (text: string) => void
  /** Whether it was said that there is nothing. */
  readonly wasEmpty: () => boolean
  /** A note on stderr, even with `--json`. */
  readonly note: (text: string) => void
}

/** Follows https://no-color.org, and otherwise depends on the kind of terminal. */
const wantsColor = (env: Io['env'], isTerminal: boolean): boolean => {
  if (env.NO_COLOR !== undefined && env.NO_COLOR !== '') return false
  if (env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== '' && env.FORCE_COLOR !== '0') return true
  return isTerminal && env.TERM !== 'dumb'
}

/** The width of the terminal, or COLUMNS. `undefined` in a pipe, where nothing is cut. A terminal that does not know its width says 0. */
const widthFor = ({ columns, env }: Io): number | undefined => {
  const said = /^[1-9]\d{0,4}$/.test(env.COLUMNS ?? '') ? Number(env.COLUMNS) : undefined
  return columns() || said
}

export const createPrinter = (io: Io, isJson: boolean): Printer => {
  const colorsOf = (isTerminal: boolean): Colors => pc.createColors(!isJson && wantsColor(io.env, isTerminal))
  const colors = colorsOf(io.outIsTerminal)
  const out = (text: string): void => {
    clearProgress(io)
    io.out(text)
  }
  const line = (text = ''): void => out(`${text}\n`)
  const dim = (text: string): Painted => ({ text, paint: colors.dim })
  const linesOf = (layout: Layout, rows: ReadonlyArray<Row>): string => rows.map((row) => `${lineOf(layout, row)}\n`).join('')

  const begin = (given: ReadonlyArray<string | Column>, rows: ReadonlyArray<Row>, hasMore: boolean): Layout => {
    const columns = given.map((column) => (typeof column === 'string' ? { head: column } : column))
    const layout = layoutOf(columns, rows, widthFor(io), hasMore)
    out(linesOf(layout, [columns.map(({ head }) => ({ text: head, paint: colors.bold })), ...rows]))
    return layout
  }
  let wasEmpty = false
  const nothing = (empty: string): void => {
    wasEmpty = true
    line(colors.dim(empty))
  }
  const end = ({ leftOut }: Layout): void => {
    if (leftOut.length === 0) return
    const says = dim(`no room for ${leftOut.join(', ')}`)
    line(lineOf(layoutOf([{ head: '', min: 1 }], [[says]], widthFor(io)), [says]))
  }

  const tablePages = (columns: ReadonlyArray<string | Column>, empty = 'none'): Pages<Row> => {
    /** The first page is printed only once it is known whether more pages follow. */
    let first: ReadonlyArray<Row> | undefined
    let layout: Layout | undefined
    return {
      page: async (rows) => {
        if (rows.length === 0) return
        if (first === undefined) {
          first = rows
          return
        }
        if (layout === undefined) layout = begin(columns, first, true)
        out(linesOf(layout, rows))
        await io.flushed()
      },
      end: () => {
        if (first === undefined) return nothing(empty)
        end(layout ?? begin(columns, first, false))
      },
    }
  }

  const jsonPages: Printer['jsonPages'] = (name, more) => {
    let before = `{${JSON.stringify(name)}:[\n`
    return {
      page: async (items) => {
        if (items.length === 0) return
        let texts = ''
        for (const item of items) {
          texts += before + JSON.stringify(item)
          before = ',\n'
        }
        out(texts)
        await io.flushed()
      },
      end: () => {
        const opening = before === ',\n' ? '' : before
        const members = Object.entries(more()).map(([key, value]) => `,${JSON.stringify(key)}:${JSON.stringify(value)}`)
        out(`${opening}\n]${members.join('')}}\n`)
      },
    }
  }

  return {
    isJson,
    colors,
    errColors: colorsOf(io.errIsTerminal),
    width: widthFor(io),
    answer: (value, people) => (isJson ? out(`${JSON.stringify(value, null, io.outIsTerminal ? 2 : undefined)}\n`) : people()),
    line,
    table: (columns, rows, empty = 'none') => (rows.length === 0 ? nothing(empty) : end(begin(columns, rows, false))),
    tablePages,
    jsonPages,
    nothing,
    pairs: (pairs) => {
      const said = pairs.filter(([, value]) => value !== undefined && value !== '')
      const width = Math.max(0, ...said.map(([name]) => name.length))
      for (const [name, value] of said) line(`${colors.dim(name.padEnd(width))}  ${value ?? ''}`)
    },
    wasEmpty: () => wasEmpty,
    note: (text) => {
      clearProgress(io)
      io.err(`${text}\n`)
    },
  }
}

const statusColors: Readonly<Record<string, 'green' | 'yellow' | 'red' | 'cyan' | 'dim' | 'magenta'>> = {
  pending: 'cyan',
  scheduled: 'dim',
  waiting: 'dim',
  blocked: 'dim',
  'in-progress': 'yellow',
  incomplete: 'magenta',
  completed: 'green',
  'dead-letter': 'red',
  open: 'red',
  'half-open': 'yellow',
  closed: 'green',
}

export const paintStatus = (colors: Colors, status: string): string => {
  const color = statusColors[status]
  return color === undefined ? clean(status) : colors[color](status)
}

/** A status in a table. */
export const statusCell = (colors: Colors, status: string): Cell => ({ text: clean(status), paint: (text) => colors[statusColors[status] ?? 'reset'](text) })
