/** A program on a real pseudo-terminal, whose screen is read as a terminal shows it. */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import xterm from '@xterm/headless'
import { inTime } from '../support/in-time.js'

const script = fileURLToPath(new URL('../support/run_on_terminal.py', import.meta.url))

export interface PtyEnd {
  readonly code: number
  /** Whether the terminal shows what is typed, as it did before. */
  readonly echo: boolean
}

export interface Pty {
  /** The lines of the screen now, without blanks at their ends. */
  readonly screen: () => ReadonlyArray<string>
  /** Whether the program has the other screen, which is gone when it leaves it. */
  readonly isFullScreen: () => boolean
  readonly type: (keys: string) => void
  readonly resize: (columns: number, rows: number) => void
  readonly signal: (number: number) => void
  /** Closes the terminal, as a window is closed or a connection ends. */
  readonly close: () => void
  /** Resolves when the screen is as it is asked for. */
  readonly until: (is: (screen: string) => boolean, what: string) => Promise<string>
  readonly ended: Promise<PtyEnd>
}

export const startPty = (command: ReadonlyArray<string>, env: Readonly<Record<string, string | undefined>>, columns = 100, rows = 30): Pty => {
  const terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true })
  const child = spawn('python3', [script, String(columns), String(rows), ...command], { env, stdio: ['pipe', 'pipe', 'pipe'] })
  let said = ''
  const listeners = new Set<() => void>()
  child.stdin.on('error', () => undefined)
  child.stdout.on('data', (chunk: Buffer) => terminal.write(chunk, () => listeners.forEach((listener) => listener())))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
  const ended = new Promise<PtyEnd>((resolve, reject) => {
    child.on('error', reject)
    // Written with a callback, so that everything that came before is on the screen.
    child.on('close', () => terminal.write('', () => {
      const last = said.trim().split('\n').pop() ?? ''
      if (last.startsWith('{')) resolve(JSON.parse(last) as PtyEnd)
      else reject(new Error(`no end was told: ${said}`))
    }))
  })
  ended.catch(() => undefined)
  const send = (asked: object): void => void child.stdin.write(`${JSON.stringify(asked)}\n`)
  const screen = (): ReadonlyArray<string> => {
    const { active } = terminal.buffer
    return Array.from({ length: terminal.rows }, (_, i) => active.getLine(active.baseY + i)?.translateToString(true) ?? '')
  }
  return {
    screen,
    isFullScreen: () => terminal.buffer.active.type === 'alternate',
    type: (keys) => send({ keys }),
    resize: (toColumns, toRows) => {
      terminal.resize(toColumns, toRows)
      send({ size: [toColumns, toRows] })
    },
    signal: (number) => send({ signal: number }),
    close: () => send({ close: true }),
    until: (is, what) => {
      let check = (): void => undefined
      const seen = new Promise<string>((resolve) => {
        check = () => {
          const now = screen().join('\n')
          if (is(now)) resolve(now)
        }
        listeners.add(check)
        check()
      })
      return inTime(what, seen)
        .catch((error: Error) => Promise.reject(new Error(`${error.message}; the screen is:\n${screen().join('\n')}`)))
        .finally(() => listeners.delete(check))
    },
    ended,
  }
}
