/** The progress of a long command: one line on stderr of a terminal, which is overwritten. Elsewhere nothing, or a line from time to time. */
import type { Io } from './io.js'
import type { Printer } from './printer.js'

export interface Progress {
  readonly show: (text: string) => void
  readonly clear: () => void
}

/** The least time between two updates, in milliseconds. */
const everyMs = 100

/** `lineEveryMs`: where no progress is shown, such as in the log of a service, a line of its own is printed this often. */
export const createProgress = (io: Io, printer: Printer, { lineEveryMs = Number.POSITIVE_INFINITY }: { readonly lineEveryMs?: number } = {}): Progress => {
  if (!io.errIsTerminal || printer.isJson) return linesOf(printer, lineEveryMs)
  let shownAt = 0
  let isShown = false
  return {
    show: (text) => {
      const now = performance.now()
      if (isShown && now - shownAt < everyMs) return
      shownAt = now
      isShown = true
      io.err(`\r\u001b[2K${text}`)
    },
    clear: () => {
      if (isShown) io.err('\r\u001b[2K')
      isShown = false
    },
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
