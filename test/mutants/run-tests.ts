/** Runs test files in a copy of the repository, one after the other up to the first failing test, and returns the results. */
import { spawn } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Report, reportVariable } from './reporter.js'

export interface TestRun {
  readonly passed: number
  /** Files with a failed test, or that did not load. */
  readonly failed: ReadonlyArray<string>
  /** The title of the first test that failed otherwise than by a time-out, or an error outside of tests. */
  readonly caughtBy: string | undefined
  /** The message of that test. */
  readonly message: string | undefined
  /** Whether a test or the whole run timed out. */
  readonly timedOut: boolean
  /** A file whose tests did not even start. */
  readonly unloadable: string | undefined
}

export interface RunOptions {
  /** Run only tests with this in their titles. */
  readonly named?: string
  readonly limitMs: number
  readonly signal: AbortSignal
}

/**
 * Time-out of tests without their own. Twice as long as in other runs: a test that waits in vain must reach its own limit of half a minute and fail
 * by it, even on a slow machine.
 */
const testTimeoutMs = 120_000

const isTimeOut = (message: string): boolean => /^(?:Test|Hook) timed out in \d+ms/.test(message)

export const runTests = async (tree: string, files: ReadonlyArray<string>, options: RunOptions): Promise<TestRun> => {
  const reportFile = join(tree, 'mutants-report.json')
  await rm(reportFile, { force: true })
  const { late, output } = await runVitest(tree, reportFile, [
    ...files,
    '--bail=1',
    ...(options.named === undefined ? [] : ['--testNamePattern', literally(options.named)]),
    `--testTimeout=${testTimeoutMs}`,
    `--hookTimeout=${testTimeoutMs}`,
    '--maxWorkers=1',
  ], options)
  const report = late ? undefined : await readReport(reportFile)
  if (report === undefined) {
    return { passed: 0, failed: files, caughtBy: undefined, message: undefined, timedOut: late, unloadable: late ? undefined : `no report: ${output}` }
  }
  const failures = report.files.flatMap(({ failed }) => failed)
  const caught = failures.find(({ messages }) => !messages.every(isTimeOut))
  const broken = report.files.find(({ failed, problems }) => failed.length === 0 && problems.length > 0)
  const beside = report.unhandled.map((message) => `an error outside of the tests: ${message}`)
  return {
    passed: report.files.reduce((sum, { passed }) => sum + passed, 0),
    failed: report.files.filter(({ failed, problems }) => failed.length + problems.length > 0).map(({ file }) => file.slice(tree.length + 1)),
    caughtBy: caught?.title ?? beside[0],
    message: caught?.messages.join('; '),
    timedOut: failures.length > 0,
    unloadable: broken === undefined ? undefined : `${broken.file}: ${broken.problems.join('; ')}`,
  }
}

const literally = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')

const readReport = async (file: string): Promise<Report | undefined> => {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Report
  } catch {
    return undefined
  }
}

/** Compiled into the same folder as this file. */
const reporter = fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? 'reporter.ts' : 'reporter.js', import.meta.url))

interface Ended {
  readonly late: boolean
  readonly output: string
}

const runVitest = (tree: string, reportFile: string, args: ReadonlyArray<string>, { limitMs, signal }: RunOptions): Promise<Ended> =>
  new Promise((resolve, reject) => {
    const test = join(tree, 'test')
    // Variables of a vitest that runs this tool must not be inherited.
    const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST')))
    const env = { ...inherited, [reportVariable]: reportFile }
    const child = spawn(
      process.execPath,
      [join(test, 'node_modules', 'vitest', 'vitest.mjs'), 'run', '--config', join(test, 'vitest.config.ts'), `--reporter=${reporter}`, ...args],
      // A separate process group, so that all processes that the tests start can be ended.
      { cwd: tree, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true },
    )
    let output = ''
    let late = false
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output = (output + chunk.toString()).slice(-1_000)))
    const kill = (): void => {
      try {
        process.kill(-(child.pid as number), 'SIGKILL')
      } catch {
        // The process has ended already.
      }
    }
    const timer = setTimeout(() => {
      late = true
      kill()
    }, limitMs)
    signal.addEventListener('abort', kill)
    child.once('error', reject)
    child.once('close', () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', kill)
      kill()
      if (signal.aborted) reject(signal.reason as Error)
      else resolve({ late, output })
    })
  })
