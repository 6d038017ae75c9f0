/** The world as a command sees it, so that tests can stand in for it. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly out: (text: string) => void
  readonly err: (text: string) => void
  readonly outIsTerminal: boolean
  readonly errIsTerminal: boolean
  /** All of standard input. */
  readonly input: () => Promise<string>
  /** Calls back on SIGINT and SIGTERM until the returned function is called. */
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
  return Buffer.concat(chunks).toString('utf8')
}

export const processIo = (): Io => {
  // `daybook list | head` closes our output early; that is no failure.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit()
      throw error
    })
  }
  return {
    env: process.env,
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    outIsTerminal: process.stdout.isTTY === true,
    errIsTerminal: process.stderr.isTTY === true,
    input: readInput,
    onSignal: (heard) => {
      const names: ReadonlyArray<NodeJS.Signals> = ['SIGINT', 'SIGTERM']
      for (const name of names) process.on(name, heard)
      return () => {
        for (const name of names) process.off(name, heard)
      }
    },
  }
}
