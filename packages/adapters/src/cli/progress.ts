/** The progress of a long command: one line on stderr of a terminal, which is overwritten. Elsewhere nothing, or a line from time to time. */
import type { Io } from './io.js'
import type { Printer } from './printer.js'

export interface Progress {
  readonly show: (text: string) => void
  readonly clear: () => void
}

/** A line that is wider than the terminal is cut by it: what has wrapped would not be overwritten. */
const onOneLine = (text: string): string => `\u001b[?7l${text}\u001b[?7h`

/** The least time between two updates, in milliseconds. */
const everyMs = 100

let clearShown = (): void => undefined
/** Removes the line that a command has left when it failed. */
export const clearProgress = (): void => clearShown()

/** `lineEveryMs`: where no progress is shown, such as in the log of a service, a line of its own is printed this often. */
export const createProgress = (io: Io, printer: Printer, { lineEveryMs = Number.POSITIVE_INFINITY }: { readonly lineEveryMs?: number } = {}): Progress => {
  if (!io.errIsTerminal || io.env.TERM === 'dumb' || printer.isJson) return linesOf(printer, lineEveryMs)
  let shownAt = 0
  let isShown = false
  const clear = (): void => {
    if (isShown) io.err('\r\u001b[2K')
    isShown = false
  }
  return {
    show: (text) => {
      const now = performance.now()
      if (isShown && now - shownAt < everyMs) return
      shownAt = now
      isShown = true
      clearShown = clear
      io.err(`\r\u001b[2K${onOneLine(text)}`)
    },
    clear,
  }
}

const linesOf = (printer: Printer, everyMs: number): Progress => {
  let last = performance.now()
  return {
    show: (text) => {
      const now = performance.now()
      if (now - last < everyMs) return
      last = now
      printer.note(`daybook: ${text}`)
    },
    clear: () => undefined,
  }
}
