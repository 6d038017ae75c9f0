/** The progress of a long command: one line on stderr of a terminal, which is overwritten. Elsewhere nothing, or a line from time to time. */
import type { Io } from './io.js'
import type { Printer } from './printer.js'

/** Shows how far the command is. */
export type Progress = (text: string) => void

/** A line that is wider than the terminal is cut by it: what has wrapped would not be overwritten. */
const onOneLine = (text: string): string => `\u001b[?7l${text}\u001b[?7h`

/** The least time between two updates, in milliseconds. */
const everyMs = 100

/** What removes the line, while one is shown. */
const shown = new WeakMap<Io, () => void>()
/** Removes the line. Whatever is printed does this first, and so does the end of the command. */
export const clearProgress = (io: Io): void => shown.get(io)?.()

/** `lineEveryMs`: where no progress is shown, such as in the log of a service, a line of its own is printed this often. */
export const createProgress = (io: Io, printer: Printer, { lineEveryMs = Number.POSITIVE_INFINITY }: { readonly lineEveryMs?: number } = {}): Progress => {
  if (!io.errIsTerminal || io.env.TERM === 'dumb' || printer.isJson) return linesOf(printer, lineEveryMs)
  let shownAt = 0
  const clear = (): void => {
    io.err('\r\u001b[2K')
    shown.delete(io)
  }
  return (text) => {
    const now = performance.now()
    if (shown.has(io) && now - shownAt < everyMs) return
    shownAt = now
    shown.set(io, clear)
    io.err(`\r\u001b[2K${onOneLine(text)}`)
  }
}

const linesOf = (printer: Printer, everyMs: number): Progress => {
  let last = performance.now()
  return (text) => {
    const now = performance.now()
    if (now - last < everyMs) return
    last = now
    printer.note(`daybook: ${text}`)
  }
}
