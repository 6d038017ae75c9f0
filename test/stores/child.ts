import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export interface Child {
  readonly process: ChildProcess
  readonly lines: ReadonlyArray<string>
  /** The first line, past or future, that matches; rejects if the child ends without one. */
  readonly line: (pattern: RegExp) => Promise<string>
  /** Exit code, or the signal's name. */
  readonly ended: Promise<number | string>
}

export const scriptPath = (script: string): string =>
  fileURLToPath(new URL(`./children/${script}.mjs`, import.meta.url))

export const runProgram = (
  program: string,
  args: ReadonlyArray<string>,
  options: Pick<SpawnOptions, 'uid' | 'gid' | 'env'> = {},
): Child => {
  const child = spawn(program, args, { ...options, stdio: ['pipe', 'pipe', 'pipe'] })
  const lines: Array<string> = []
  const waiting = new Set<() => void>()
  const look = (): void => waiting.forEach((again) => again())
  let errors = ''
  let gone = false
  child.stderr.on('data', (text: Buffer) => (errors += text.toString()))
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line)
    look()
  })
  const ended = new Promise<number | string>((resolve) =>
    child.once('close', (code, signal) => {
      gone = true
      resolve(code ?? signal ?? '')
      setImmediate(look)
    }),
  )
  const line = (pattern: RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      const again = (): void => {
        const found = lines.find((candidate) => pattern.test(candidate))
        if (found === undefined && !gone) return
        waiting.delete(again)
        if (found === undefined) reject(new Error(`ended without ${String(pattern)}: ${errors}`))
        else resolve(found)
      }
      waiting.add(again)
      again()
    })
  return { process: child, lines, line, ended }
}

/** Runs one of the scripts in `children/` with these options. */
export const runChild = (script: string, options: object, spawnOptions?: Pick<SpawnOptions, 'uid' | 'gid'>): Child =>
  runProgram(process.execPath, [scriptPath(script), JSON.stringify(options)], spawnOptions)
