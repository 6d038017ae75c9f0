/** Everything that a command reads from and writes to. Tests replace it. */
import { createInterface } from 'node:readline'
import { exitCodes, Interrupted } from './exit-codes.js'
import { type LiveTerminal, openTerminal } from './top/terminal.js'
import { linesOf, textOf } from './utf8.js'

export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly out: (text: string) => void
  readonly err: (text: string) => void
  /** Resolves when everything written to `out` has been taken. Awaited between pages, for back-pressure. */
  readonly flushed: () => Promise<void>
  readonly inIsTerminal: boolean
  readonly outIsTerminal: boolean
  readonly errIsTerminal: boolean
  /** Width of the terminal that `out` is; `undefined` if it is not a terminal. */
  readonly columns: () => number | undefined
  /** All of standard input. */
  readonly input: () => Promise<string>
  /** Standard input line by line, however long it is. */
  readonly inputLines: () => AsyncIterable<string>
  /** Prints a question on stderr and reads a line from the terminal. Empty when the input ends. Rejects with `Interrupted` at Ctrl-C. */
  readonly ask: (question: string) => Promise<string>
  /** The terminal as a screen with single keys; `undefined` if there is none. The caller must close it. */
  readonly liveTerminal: () => LiveTerminal | undefined
  /**
   * Calls back on SIGINT, SIGTERM and SIGHUP (the terminal was closed) until the returned function is called; and once with SIGPIPE, when `out` cannot be
   * written any more. What cannot be written to `err` is then dropped.
   */
  readonly onSignal: (heard: (signal: NodeJS.Signals) => void) => () => void
}

const inputBytesMax = 64 * 2 ** 20

const readInput = async (): Promise<string> => {
  const chunks: Array<Buffer> = []
  let bytes = 0
  for await (const chunk of process.stdin) {
    chunks.push(chunk as Buffer)
    bytes += (chunk as Buffer).length
    if (bytes > inputBytesMax) throw new Error(`standard input is over ${inputBytesMax} bytes`)
  }
  return textOf(Buffer.concat(chunks), 'standard input')
}

const ask = (question: string): Promise<string> => {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  return new Promise((resolve, reject) => {
    // While it reads a line, the terminal sends no signal for Ctrl-C.
    terminal.once('SIGINT', () => {
      reject(new Interrupted('interrupted by SIGINT'))
      process.stderr.write('\n')
      terminal.close()
    })
    terminal.once('close', () => resolve(''))
    terminal.question(question, (answer) => {
      resolve(answer)
      terminal.close()
    })
  })
}

let isTerminalGone = false
/** An output that failed otherwise than by a reader who has left. */
let hasOutputFailed = false

/** Ends the process. If its terminal was closed, it ends by SIGHUP: Node's own exit would abort, because it cannot restore the terminal. */
export const leave = (code: number): never => {
  if (isTerminalGone) process.kill(process.pid, 'SIGHUP')
  return process.exit(hasOutputFailed ? code || exitCodes.refused : code)
}

/** Those that have something to clean up when the program is to end. */
const listeners = new Set<(signal: NodeJS.Signals) => void>()
const lost = new Set<NodeJS.WriteStream>()
/** A signal has come. One that ended a pipe may have ended the reader of the output as well, which must not count as a second signal. */
let isToEnd = false

/** A server or a worker must not end in the middle of its work because nobody reads what it says, or because the disk of its log is full. */
const outputLost = (stream: NodeJS.WriteStream, error: NodeJS.ErrnoException): void => {
  // The terminal was closed. SIGHUP comes as well, and its listeners still have to clean up.
  if (error.code === 'EIO' && stream.isTTY) return void (isTerminalGone = true)
  if (lost.has(stream)) return
  const isRefused = error.code !== 'EPIPE'
  if (listeners.size > 0) {
    lost.add(stream)
    if (stream === process.stderr) return
    hasOutputFailed = isRefused
    if (isRefused) process.stderr.write(unwritable(error))
    if (!isToEnd) for (const heard of [...listeners]) heard('SIGPIPE')
    return
  }
  // `daybook list | head` closes our output early. That is no failure.
  if (!isRefused) process.exit()
  process.stderr.write(unwritable(error))
  process.exit(exitCodes.refused)
}

const unwritable = (error: Error): string => `daybook: the output cannot be written: ${error.message}\n`

export const processIo = (): Io => {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', (error: NodeJS.ErrnoException) => outputLost(stream, error))
  return {
    env: process.env,
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    flushed: () => new Promise((resolve) => process.stdout.write('', () => resolve())),
    inIsTerminal: process.stdin.isTTY === true,
    outIsTerminal: process.stdout.isTTY === true,
    errIsTerminal: process.stderr.isTTY === true,
    columns: () => (process.stdout.isTTY === true ? process.stdout.columns : undefined),
    input: readInput,
    inputLines: () => linesOf(process.stdin, 'standard input'),
    ask,
    liveTerminal: () => (process.stdin.isTTY === true && process.stdout.isTTY === true && process.env.TERM !== 'dumb' ? openTerminal() : undefined),
    onSignal: (heard) => {
      const names: ReadonlyArray<NodeJS.Signals> = ['SIGINT', 'SIGTERM', 'SIGHUP']
      const hear = (name: NodeJS.Signals): void => {
        isToEnd = true
        if (name === 'SIGHUP') isTerminalGone ||= [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY)
        heard(name)
      }
      for (const name of names) process.on(name, hear)
      listeners.add(heard)
      return () => {
        listeners.delete(heard)
        for (const name of names) process.off(name, hear)
      }
    },
  }
}
