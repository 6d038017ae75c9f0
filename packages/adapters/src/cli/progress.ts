/** The progress of a long command: one line on stderr of a terminal, which is overwritten. */
import type { Io } from './io.js'
import type { Printer } from './printer.js'

export interface Progress {
  readonly show: (text: string) => void
  readonly clear: () => void
}

/** The least time between two updates, in milliseconds. */
const everyMs = 100

export const createProgress = (io: Io, printer: Printer): Progress => {
  if (!io.errIsTerminal || printer.isJson) return { show: () => undefined, clear: () => undefined }
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
