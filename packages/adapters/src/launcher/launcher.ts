/**
 * Starts a program for each task, inside the server (TQM-PROC-002): workers in the queue's process. Each is an agent with its own name and runs one
 * program at a time. Capacity limits them like all other agents.
 */
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Phase } from '@daybook/core'
import type { Daybook, QueueEngine } from '../engine/index.js'
import { errorText } from '../error-text.js'
import type { MemoryService } from '../memory-bank/index.js'
import { isDestroyed } from '../store/index.js'
import { createWorker, engineSource, type TaskWorker, type WorkerEvent, WorkerStopped } from '../worker/index.js'
import { cannotStart } from './find-program.js'
import { programHandler } from './program-handler.js'
import { type Environment, NoSuchProgram } from './run-agent.js'

export interface LauncherOptions {
  /** The program and its arguments. */
  readonly command: ReadonlyArray<string>
  /** Variables for the program, beside those of the server whose names do not begin with `DAYBOOK_`. */
  readonly env?: Environment
  readonly types?: ReadonlyArray<string>
  readonly phases?: ReadonlyArray<Phase>
  readonly skills?: ReadonlyArray<string>
  readonly tenant?: string
  /** The largest number of programs at a time in each queue. Each is an agent. Default 1. */
  readonly concurrency?: number
  /** Default: the queue `default`. */
  readonly queues?: ReadonlyArray<string>
  /** How long a program may run, in seconds, as for a worker. Default 21,600. */
  readonly maxRunSeconds?: number
}

export interface Launcher {
  /** Starts no more programs. Running programs may finish within this time. After that they are ended, and their tasks are given back. */
  readonly close: (graceMs: number) => Promise<void>
}

/** `undefined` for a queue of which events are lost: the others still work. */
const openFor = (daybook: Daybook, queue: string, warn: (message: string) => void): Promise<QueueEngine | undefined> =>
  daybook.open(queue).catch((error: unknown) => {
    if (!isDestroyed(error)) throw error
    warn(`queue ${queue}: the launcher starts nothing, until its events are back and the server is started again: ${error.message}`)
    return undefined
  })

/**
 * What programs get of the server's environment. Its own variables are left out: they hold the admin token, and the store with its password.
 */
const withoutOwn = (environment: Environment): Environment => Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('DAYBOOK_')))

/** How long to wait before it is looked whether the program can be started again, in milliseconds. */
const lookAgainMs = 1_000
const lookAgainMsMax = 60_000

/** `memory`: its memories of earlier tasks are given to the programs. @throws Error with what to do if the program cannot be started. */
export const startLauncher = async (daybook: Daybook, url: string, options: LauncherOptions, warn: (message: string) => void, memory?: MemoryService): Promise<Launcher> => {
  const { command: [command = '', ...args], env = {}, concurrency = 1, queues = ['default'], ...wanted } = options
  const environment = { ...withoutOwn(process.env), ...env }
  const obstacle = await cannotStart(command, environment.PATH)
  if (obstacle !== undefined) throw new Error(`the launcher's program: ${obstacle}`)
  const engines: Array<readonly [queue: string, engine: QueueEngine]> = []
  for (const queue of queues) {
    const engine = await openFor(daybook, queue, warn)
    if (engine !== undefined) engines.push([queue, engine])
  }
  const closed = new AbortController()
  let workers: ReadonlyArray<TaskWorker> = []
  let paused: Promise<void> | undefined
  let waitMs = lookAgainMs
  const stopWorkers = (graceMs: number): Promise<unknown> => Promise.all(workers.map((worker) => worker.stop({ graceMs })))

  const start = (queue: string, engine: QueueEngine, n: number): TaskWorker => {
    const agentId = `launcher-${hostname().slice(0, 64)}-${n}`
    const run = programHandler({ command, args, queue, url, agentId: () => agentId, environment, onStderr: () => undefined })
    const worker = createWorker({
      ...wanted,
      source: engineSource(engine, undefined, memory),
      agentId,
      concurrency: 1,
      prefetchMax: 0,
      onEvent: (event) => tell(event, queue, warn),
      handler: async (task, context) => {
        try {
          const result = await run(task, context)
          waitMs = lookAgainMs
          return result
        } catch (error) {
          if (!(error instanceof NoSuchProgram)) throw error
          // The server is at fault, not the task: the task goes back without counting an attempt.
          pause(error.message)
          throw new WorkerStopped(error.message)
        }
      },
    })
    worker.start()
    return worker
  }
  const startAll = (): void => {
    workers = engines.flatMap(([queue, engine]) => Array.from({ length: concurrency }, (_, i) => start(queue, engine, i + 1)))
  }

  /** Claims nothing until the program can be started: somebody may just be replacing it. */
  const pause = (why: string): void => {
    paused ??= (async () => {
      warn(`the launcher waits until its program can be started: ${why}`)
      await stopWorkers(0)
      do {
        await sleep(waitMs, undefined, { signal: closed.signal, ref: false })
        waitMs = Math.min(2 * waitMs, lookAgainMsMax)
      } while ((await cannotStart(command, environment.PATH)) !== undefined)
      warn('the launcher goes on')
      startAll()
    })()
      // The server was closed meanwhile.
      .catch(() => undefined)
      .finally(() => (paused = undefined))
  }

  startAll()
  return {
    close: async (graceMs) => {
      closed.abort()
      await paused
      await stopWorkers(graceMs)
    },
  }
}

const tell = (event: WorkerEvent, queue: string, warn: (message: string) => void): void => {
  if (event.type === 'incomplete') warn(`queue ${queue}: ${event.taskId}: the program printed no decisionReport, which this queue requires`)
  if (event.type === 'claim-failed' && event.fatal) warn(`queue ${queue}: the launcher stops: ${errorText(event.error)}`)
}
