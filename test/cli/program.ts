/** Runs the program against a real server: as a process, or in this process, which is ten times as fast. */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { type Io, run as runProgram } from '@daybook/adapters/cli'
import { afterAll, beforeAll } from 'vitest'

export const root = fileURLToPath(new URL('../../', import.meta.url))
const bin = join(root, 'packages/adapters/bin/daybook.js')

type Child = ChildProcessByStdio<Writable, Readable, Readable>

export interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

const variables = ['DAYBOOK_URL', 'DAYBOOK_TOKEN', 'DAYBOOK_QUEUE', 'DAYBOOK_HOST', 'DAYBOOK_PORT', 'DAYBOOK_DATA', 'DAYBOOK_STORE', 'DAYBOOK_AGENT', 'NO_COLOR', 'FORCE_COLOR']

/** Starts `daybook ARGS` without the DAYBOOK_ variables of the environment. */
export const start = (args: ReadonlyArray<string>, env: Record<string, string> = {}, cwd = root): Child => {
  const own = Object.fromEntries(Object.entries(process.env).filter(([name]) => !variables.includes(name)))
  return spawn(process.execPath, [bin, ...args], { cwd, env: { ...own, ...env }, stdio: ['pipe', 'pipe', 'pipe'] })
}

export const ended = (child: Child): Promise<Ended> =>
  new Promise((resolve, reject) => {
    let out = ''
    let err = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, out, err }))
  })

export const run = (args: ReadonlyArray<string>, env: Record<string, string> = {}, input = ''): Promise<Ended> => {
  const child = start(args, env)
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  return ended(child)
}

/** The environment of a command that runs in this process, without a terminal. */
export const noTerminal = {
  flushed: () => Promise.resolve(),
  inIsTerminal: false,
  outIsTerminal: false,
  errIsTerminal: false,
  columns: () => undefined,
  input: () => Promise.resolve(''),
  inputLines: async function* () {},
  ask: () => Promise.reject(new Error('nobody is there to be asked')),
  liveTerminal: () => undefined,
  onSignal: () => () => undefined,
} satisfies Partial<Io>

/** Runs a command in this process; `world` overrides parts of its environment, for example with a terminal. */
export const runHere = async (args: ReadonlyArray<string>, env: Record<string, string> = {}, input = '', world: Partial<Io> = {}): Promise<Ended> => {
  let out = ''
  let err = ''
  const code = await runProgram(args, {
    ...noTerminal,
    env,
    out: (text) => void (out += text),
    err: (text) => void (err += text),
    input: async () => input,
    inputLines: async function* () {
      yield* input.split('\n')
    },
    ...world,
  })
  return { code, out, err }
}

export interface Server {
  readonly url: string
  readonly dir: string
  readonly env: Record<string, string>
  /** Its output on stderr until it was ready. */
  readonly said: string
  /** Runs a command against the server, in this process. */
  readonly daybook: (args: ReadonlyArray<string>, input?: string, world?: Partial<Io>) => Promise<Ended>
  /** The same with --json and the answer parsed; throws if the exit code is not 0. */
  readonly json: <T>(...args: ReadonlyArray<string>) => Promise<T>
  /** Sends SIGTERM, and resolves to exit code and output. */
  readonly stop: () => Promise<Ended>
  readonly remove: () => void
}

export const token = 'a-token-of-the-tests'

/** Starts a server on a free port with its own folder, and waits for its line on stdout. */
export const startServer = async (flags: ReadonlyArray<string> = [], env: Record<string, string> = { DAYBOOK_TOKEN: token }, dir = mkdtempSync(join(tmpdir(), 'daybook-cli-'))): Promise<Server> => {
  const child = start(['serve', '--port', '0', '--data', join(dir, 'data'), ...flags], env)
  const end = ended(child)
  let out = ''
  let said = ''
  child.stderr.on('data', (text: string) => (said += text))
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (text: string) => {
      out += text
      const found = /http:\/\/[^\s"]+/.exec(out)
      if (found !== null) resolve(found[0])
    })
    void end.then(({ code, err }) => reject(new Error(`the server ended with ${code}: ${err}`)), reject)
  })
  const own = { ...env, DAYBOOK_URL: url }
  const daybook: Server['daybook'] = (args, input, world) => runHere(args, own, input, world)
  return {
    url,
    dir,
    env: own,
    said,
    daybook,
    json: async <T>(...args: ReadonlyArray<string>): Promise<T> => {
      const { code, out: text, err } = await daybook([...args, '--json'])
      if (code !== 0) throw new Error(`daybook ${args.join(' ')}: exit code ${code}: ${err}`)
      return JSON.parse(text) as T
    },
    stop: async () => {
      child.kill('SIGTERM')
      return end
    },
    remove: () => rmSync(dir, { recursive: true, force: true }),
  }
}

/** One server for all tests of the calling file: it is started before the first test, and stopped and removed after the last. */
export const serverOfFile = (): Server => {
  let server: Server | undefined
  beforeAll(async () => {
    server = await startServer()
  })
  afterAll(async () => {
    await server?.stop()
    server?.remove()
  })
  return new Proxy({} as Server, {
    get: (_, member) => {
      if (server === undefined) throw new Error('the server has not started yet')
      return Reflect.get(server, member) as unknown
    },
  })
}
