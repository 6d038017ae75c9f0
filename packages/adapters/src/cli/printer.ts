/** What a command says: one JSON document for programs, or tables for people. */
import Table from 'cli-table3'
import pc from 'picocolors'
import type { Io } from './io.js'
import { clean } from './text.js'

export type Colors = ReturnType<typeof pc.createColors>

export interface Printer {
  readonly isJson: boolean
  readonly colors: Colors
  /** The answer: `value` with `--json`, else what `people` prints. */
  readonly answer: (value: unknown, people: () => void) => void
  readonly line: (text?: string) => void
  /** Rows of texts under headings; `empty` when there are none. Columns without any text are left out. */
  readonly table: (heads: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>, empty?: string) => void
  /** Names and values, one a line; those without a value are left out. */
  readonly pairs: (pairs: ReadonlyArray<readonly [string, string | undefined]>) => void
  /** On stderr, also with `--json`. */
  readonly note: (text: string) => void
}

/** https://no-color.org, then what the terminal says. */
const wantsColor = (env: Io['env'], isTerminal: boolean): boolean => {
  if (env.NO_COLOR !== undefined && env.NO_COLOR !== '') return false
  if (env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== '' && env.FORCE_COLOR !== '0') return true
  return isTerminal && env.TERM !== 'dumb'
}

export const createPrinter = (io: Io, isJson: boolean): Printer => {
  const colors = pc.createColors(!isJson && wantsColor(io.env, io.outIsTerminal))
  const line = (text = ''): void => io.out(`${text}\n`)

  const table = (heads: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>, empty = 'none'): void => {
    if (rows.length === 0) return line(colors.dim(empty))
    const columns = heads.map((_, i) => i).filter((i) => rows.some((row) => (row[i] ?? '') !== ''))
    const drawn = new Table({
      head: columns.map((i) => colors.bold(heads[i] ?? '')),
      style: { head: [], border: [], 'padding-left': 0, 'padding-right': 2, compact: true },
      chars: Object.fromEntries(
        ['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right', 'left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid', 'middle'].map((name) => [name, '']),
      ),
    })
    for (const row of rows) drawn.push(columns.map((i) => row[i] ?? ''))
    line(drawn.toString().replace(/[ \t]+$/gm, ''))
  }

  return {
    isJson,
    colors,
    answer: (value, people) => (isJson ? io.out(`${JSON.stringify(value, null, io.outIsTerminal ? 2 : undefined)}\n`) : people()),
    line,
    table,
    pairs: (pairs) => {
      const said = pairs.filter(([, value]) => value !== undefined && value !== '')
      const width = Math.max(0, ...said.map(([name]) => name.length))
      for (const [name, value] of said) line(`${colors.dim(name.padEnd(width))}  ${value ?? ''}`)
    },
    note: (text) => io.err(`${text}\n`),
  }
}

const statusColors: Readonly<Record<string, 'green' | 'yellow' | 'red' | 'cyan' | 'dim' | 'magenta'>> = {
  pending: 'cyan',
  scheduled: 'dim',
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
