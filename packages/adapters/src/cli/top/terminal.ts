/** The terminal as a screen: it is drawn as a whole, reads single keys, and is restored at the end. */
import { emitKeypressEvents } from 'node:readline'

export interface Size {
  readonly columns: number
  readonly rows: number
}

export interface LiveTerminal {
  readonly size: () => Size
  readonly draw: (lines: ReadonlyArray<string>) => void
  /** Keys by name: `up`, `q`, `ctrl-c`, `space`. */
  readonly onKey: (heard: (key: string) => void) => void
  readonly onResize: (heard: () => void) => void
  /** Restores the terminal. May be called twice. */
  readonly close: () => void
}

const enter = '\u001b[?1049h\u001b[?25l'
const leave = '\u001b[?25h\u001b[?1049l'
/** Terminals that know this sequence show a frame only when it is complete. Others ignore it. */
const begin = '\u001b[?2026h\u001b[H'
const end = '\u001b[J\u001b[?2026l'

interface Key {
  readonly name?: string
  readonly ctrl?: boolean
}

/** Takes over the terminal of this process: alternate screen, no cursor, single keys. */
export const openTerminal = (): LiveTerminal => {
  const { stdin, stdout } = process
  let isOpen = true
  let keyHeard: (text: string | undefined, key: Key) => void = () => undefined
  let resized: () => void = () => undefined
  const close = (): void => {
    if (!isOpen) return
    isOpen = false
    process.off('exit', close)
    stdin.off('keypress', keyHeard)
    stdout.off('resize', resized)
    if (stdin.isTTY) stdin.setRawMode(false)
    stdin.pause()
    stdout.write(leave)
  }
  // Even after an uncaught error: a terminal without echo is of no use.
  process.on('exit', close)
  emitKeypressEvents(stdin)
  if (stdin.isTTY) stdin.setRawMode(true)
  stdout.write(enter)
  return {
    size: () => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 }),
    draw: (lines) => {
      if (isOpen) stdout.write(begin + lines.map((line) => `${line}\u001b[K`).join('\r\n') + end)
    },
    onKey: (heard) => {
      keyHeard = (text, { name, ctrl = false }) => heard(ctrl && name !== undefined ? `ctrl-${name}` : (name ?? text ?? ''))
      stdin.on('keypress', keyHeard)
      stdin.resume()
    },
    onResize: (heard) => {
      resized = heard
      stdout.on('resize', resized)
    },
    close,
  }
}
