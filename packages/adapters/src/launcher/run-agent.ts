/**
 * Runs a program for one task. The program gets the task as JSON on standard input and prints the result as JSON on standard output. It has its own
 * process group: signals that end it reach its children, and Ctrl-C reaches only the worker.
 */
import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Json, ParkRequest, Result, validate } from '@daybook/core/common'
import { isLeft } from 'fp-ts/lib/Either.js'
import { isShortage } from '../disk/shortage.js'
import { InexactNumber, parseJson } from '../read-json.js'
import { Park, PermanentError, WorkerStopped } from '@daybook/client/worker'

/** EX_DATAERR of sysexits.h: the input is wrong, so the task is not tried again. Any other code leads to a retry. */
const exitDataError = 65

export type Environment = Readonly<Record<string, string | undefined>>

export interface AgentRun {
  readonly command: string
  readonly args: ReadonlyArray<string>
  /** The whole environment of the program. */
  readonly env: Environment
  /** Written to the program's standard input. */
  readonly input: string
  /** When it aborts, the program gets SIGTERM, then SIGKILL. */
  readonly signal: AbortSignal
  /** Called with the program's standard error, as it comes. */
  readonly onStderr: (text: string) => void
}

/** A program with more output than this is stopped. In bytes. */
const outputBytesMax = 4 * 2 ** 20
const stderrTailMax = 4_000
/** How long the program may take to end after SIGTERM before it gets SIGKILL, in milliseconds. Shorter when the worker stops. */
const killAfterMs = 5_000
const killAfterStopMs = 700
/** How often it is looked whether the children of a program have ended after SIGTERM, in milliseconds. */
const groupLookMs = 20

/** Resolves to the result. Rejects with the failure to report, with a {@link Park}, or with {@link NoSuchProgram}. */
export const runAgent = async (run: AgentRun): Promise<Result> => {
  const child = await startAgent(run)
  // A program that has ended is not over yet while a child of it holds its output.
  const ended = new Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => resolve({ code, signal }))
  })
  const output: Array<Buffer> = []
  let bytes = 0
  let tail = ''
  child.stdout.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes <= outputBytesMax) output.push(chunk)
    else end()
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    tail = (tail + text).slice(-stderrTailMax)
    run.onStderr(text)
  })
  // A program need not read its input.
  child.stdin.on('error', () => undefined)
  child.stdin.end(run.input)

  let killer: NodeJS.Timeout | undefined
  let isKilled = false
  const end = (): void => {
    if (killer !== undefined) return
    kill(child, 'SIGTERM')
    killer = setTimeout(() => {
      isKilled = true
      kill(child, 'SIGKILL')
    }, run.signal.reason instanceof WorkerStopped ? killAfterStopMs : killAfterMs)
  }
  if (run.signal.aborted) end()
  else run.signal.addEventListener('abort', end, { once: true })
  try {
    const { code, signal } = await ended
    // Children that do not hold its output may still run.
    while (killer !== undefined && !isKilled && isGroupThere(child)) await sleep(groupLookMs)
    if (bytes > outputBytesMax) throw failure(`it printed more than ${outputBytesMax} bytes`, 'output-too-large', true)
    const text = Buffer.concat(output).toString('utf8').trim()
    if (code === 0) return resultOf(text)
    const how = code === null ? `was ended by ${signal ?? 'a signal'}` : `ended with exit code ${code}`
    throw failure(tail.trim() || `${run.command} ${how}`, code === null ? `signal-${signal ?? 'unknown'}` : `exit-${code}`, code === exitDataError)
  } finally {
    clearTimeout(killer)
    running.delete(child)
    run.signal.removeEventListener('abort', end)
  }
}

const running = new Set<ChildProcess>()
/** A program must not outlive this process: nobody would renew its lease or end it, and another agent gets its task. */
const keepInSight = (child: ChildProcess): void => {
  if (running.size === 0) process.off('exit', killAll).on('exit', killAll)
  running.add(child)
}
const killAll = (): void => {
  for (const child of running) kill(child, 'SIGKILL')
}

/**
 * Some failures to start are thrown by `spawn`. Others come as an `error` event of the child, which may have no streams then. A program that finds no
 * room waits for it: its task stays held, so that this machine takes no more than it can run, and others go on.
 */
const startAgent = async (run: AgentRun): Promise<ChildProcessWithoutNullStreams> => {
  const until = performance.now() + noRoomMsMax
  for (;;) {
    try {
      const child = spawn(run.command, run.args, {
        env: run.env,
        stdio: ['pipe', 'pipe', 'pipe'],
        detached: process.platform !== 'win32',
      })
      await once(child, 'spawn')
      keepInSight(child)
      return child
    } catch (error) {
      if (!isNoRoom(error) || run.signal.aborted || performance.now() > until) throw notStarted(run.command, error)
      // The signal is looked at next.
      await sleep(noRoomPauseMs, undefined, { signal: run.signal }).catch(() => undefined)
    }
  }
}

/** This machine, or this process, has no room for another program at present; or somebody is just writing the program's file (ETXTBSY). */
const isNoRoom = (error: unknown): boolean => isShortage(error) || (error as NodeJS.ErrnoException).code === 'ETXTBSY'
/** How often such a program is tried again, and how long, in milliseconds. */
const noRoomPauseMs = 1_000
const noRoomMsMax = 300_000

const notStarted = (command: string, error: unknown): Error => {
  const { code, message } = error as NodeJS.ErrnoException
  if (isNoRoom(error)) return failure(`${command} cannot be started at present: ${message}`, 'no-room', false)
  if (code === 'ENOENT') return new NoSuchProgram(`${command} cannot be found, or the interpreter that it names`)
  if (code === 'EACCES') return new NoSuchProgram(`${command} may not be run: chmod +x makes it a program`)
  return new NoSuchProgram(`${command} cannot be started: ${message}`)
}

/** The program cannot be started, neither for this task nor for any other. */
export class NoSuchProgram extends Error {
  override readonly name = 'NoSuchProgram'
}

/** Whether the program or a child of it is still there, perhaps as a zombie. */
const isGroupThere = ({ pid }: ChildProcess): boolean => {
  if (pid === undefined || process.platform === 'win32') return false
  try {
    return process.kill(-pid, 0)
  } catch {
    return false
  }
}

/** Sends the signal to the program and its children. Not to be called when all of them have ended: its id may be another program's by then. */
const kill = (child: ChildProcess, signal: NodeJS.Signals): void => {
  if (child.pid === undefined) return
  try {
    if (process.platform === 'win32') child.kill(signal)
    else process.kill(-child.pid, signal)
  } catch {
    // The program and its children have ended by themselves meanwhile.
  }
}

const failure = (message: string, code: string, isPermanent: boolean): Error => {
  const error = Object.assign(isPermanent ? new PermanentError(message) : new Error(message), { code })
  // The stack would show this file, not the agent's.
  Object.defineProperty(error, 'stack', { value: undefined })
  return error
}

const parkOf = (asked: Json): Error => {
  const request = validate(ParkRequest, 'park')(asked)
  if (!isLeft(request)) return new Park(request.right)
  const [{ path, message } = { path: 'park', message: 'is invalid' }] = request.left
  return failure(`what it printed: ${path} ${message}`, 'invalid-park', true)
}

const resultFields = Object.keys(Result.props)

/** `{"park": {…}}` and nothing else parks the task. JSON with the fields of a result is the result. Any other JSON or text becomes the result's `output`. */
const resultOf = (text: string): Result => {
  if (text === '') return {}
  let value: Json
  try {
    value = parseJson(text)
  } catch (error) {
    // The next run would print the same, and a rounded result would be wrong.
    if (error instanceof InexactNumber) throw failure(`what it printed: ${error.message}`, 'inexact-number', true)
    return { output: text }
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { output: value }
  const { park, ...others } = value as { readonly park?: Json }
  if (park !== undefined && Object.keys(others).length === 0) throw parkOf(park)
  const isResult = Object.keys(value).every((key) => resultFields.includes(key)) && Result.is(value)
  if (isResult) return value as Result
  const { decisionReport } = value as { readonly decisionReport?: Json }
  return decisionReport === undefined ? { output: value } : { output: value, decisionReport }
}
