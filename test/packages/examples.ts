/** Runs the examples of the packages' own READMEs in a folder in which their tarballs are installed. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import ts from 'typescript'

export interface Ran {
  readonly code: number | null
  readonly output: string
}

/** The code blocks of a page that are marked as runnable, in order. */
export const examplesOf = async (page: string): Promise<ReadonlyArray<string>> =>
  [...(await readFile(page, 'utf8')).matchAll(/<!-- run -->\n```(?:ts|js)\n([\s\S]*?)```/g)].map(([, code = '']) => code)

/** Runs a program in the folder, without this repository's variables. */
export const runIn = async (folder: string, args: ReadonlyArray<string>, env: NodeJS.ProcessEnv = {}): Promise<Ran> => {
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(VITEST|NODE_TEST|NODE_OPTIONS)/.test(name)))
  const child = spawn(process.execPath, args, { cwd: folder, env: { ...inherited, NO_COLOR: '1', ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, output }
}

/** An example as Node 20 runs it. */
export const withoutTypes = (code: string): string =>
  ts.transpileModule(code, { compilerOptions: { module: ts.ModuleKind.ES2022, target: ts.ScriptTarget.ES2022, verbatimModuleSyntax: true } }).outputText

let serial = 0
/** Runs an example as a module of the folder, without its types. */
export const runExample = async (folder: string, code: string, env?: NodeJS.ProcessEnv): Promise<Ran> => {
  const name = `example-${serial++}.mjs`
  await writeFile(join(folder, name), withoutTypes(code))
  return runIn(folder, [name], env)
}

export interface Started {
  readonly url: string
  readonly stop: () => Promise<void>
}

/** Starts the server that is installed in the folder. */
export const startServer = async (folder: string, token: string): Promise<Started> => {
  const bin = join(folder, 'node_modules/@daybook/adapters/bin/daybook.js')
  const server: ChildProcess = spawn(process.execPath, [bin, 'serve', '--port', '0', '--data', join(folder, 'data')], {
    cwd: folder, env: { ...process.env, DAYBOOK_TOKEN: token }, stdio: ['ignore', 'pipe', 'inherit'],
  })
  const stop = async (): Promise<void> => {
    server.kill('SIGTERM')
    if (server.exitCode === null && server.signalCode === null) await once(server, 'exit')
  }
  if (server.stdout === null) throw new Error('no output of the server to read')
  for await (const line of createInterface({ input: server.stdout })) {
    const url = /http:\/\/\S+/.exec(line)?.[0]
    if (url !== undefined) return { url: url.replace(/\/$/, ''), stop }
  }
  throw new Error('the server ended before it said where it is')
}
