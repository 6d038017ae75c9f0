/**
 * Starts a program for each task, inside the server (TQM-PROC-002): workers in the queue's process. Each is an agent with its own name and runs one
 * program at a time. Capacity limits them like all other agents.
 */
import { hostname } from 'node:os'
import type { Phase } from '@daybook/core'
import type { Daybook, QueueEngine } from '../engine/index.js'
import type { MemoryService } from '../memory-bank/index.js'
import { isDestroyed } from '../store/index.js'
import { createWorker, engineSource, type TaskWorker, type WorkerEvent, WorkerStopped } from '../worker/index.js'
import { cannotStart } from './find-program.js'
import { programHandler } from './program-handler.js'
import { NoSuchProgram } from './run-agent.js'

export interface LauncherOptions {
  /** The program and its arguments. */
  readonly command: ReadonlyArray<string>
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

/** `memory`: its memories of earlier tasks are given to the programs. @throws Error with what to do if the program cannot be started. */
export const startLauncher = async (daybook: Daybook, url: string, options: LauncherOptions, warn: (message: string) => void, memory?: MemoryService): Promise<Launcher> => {
  const { command: [command = '', ...args], concurrency = 1, queues = ['default'], ...wanted } = options
  const obstacle = await cannotStart(command, process.env.PATH)
  if (obstacle !== undefined) throw new Error(`the launcher's program: ${obstacle}`)
  const workers: Array<TaskWorker> = []
  for (const queue of queues) {
    const engine = await openFor(daybook, queue, warn)
    if (engine === undefined) continue
    const source = engineSource(engine, undefined, memory)
    for (let n = 1; n <= concurrency; n++) {
      const agentId = `launcher-${hostname().slice(0, 64)}-${n}`
      const run = programHandler({ command, args, queue, url, agentId: () => agentId, onStderr: () => undefined })
      const worker = createWorker({
        ...wanted,
        source,
        agentId,
        concurrency: 1,
        prefetchMax: 0,
        onEvent: (event) => tell(event, queue, warn),
        handler: async (task, context) => {
          try {
            return await run(task, context)
          } catch (error) {
            if (!(error instanceof NoSuchProgram)) throw error
            // The server is at fault, not the task: the task goes back without counting an attempt.
            warn(`queue ${queue}: the launcher stops: ${error.message}`)
            for (const each of workers) void each.stop({ graceMs: 0 })
            throw new WorkerStopped(error.message)
          }
        },
      })
      worker.start()
      workers.push(worker)
    }
  }
  return { close: async (graceMs) => void (await Promise.all(workers.map((worker) => worker.stop({ graceMs })))) }
}

const tell = (event: WorkerEvent, queue: string, warn: (message: string) => void): void => {
  if (event.type === 'incomplete') warn(`queue ${queue}: ${event.taskId}: the program printed no decisionReport, which this queue requires`)
  if (event.type === 'claim-failed' && event.fatal) warn(`queue ${queue}: the launcher stops: ${event.error instanceof Error ? event.error.message : String(event.error)}`)
}
