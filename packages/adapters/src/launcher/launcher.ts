/**
 * Starts a program for each task, in the server (TQM-PROC-002): workers in the process of the queue, each an agent with a name of its own
 * that runs one program at a time. Capacity limits them like all other agents.
 */
import { hostname } from 'node:os'
import type { Phase } from '@daybook/core'
import type { Daybook } from '../engine/index.js'
import type { MemoryService } from '../memory-bank/index.js'
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
  /** Programs at a time in each queue, each an agent. Default 1. */
  readonly concurrency?: number
  /** Default: the queue `default`. */
  readonly queues?: ReadonlyArray<string>
  /** As for a worker: how long a program may run. Default 21,600. */
  readonly maxRunSeconds?: number
}

export interface Launcher {
  /** Starts no more programs. Those that run may finish within this time; then they are ended, and their tasks go back. */
  readonly close: (graceMs: number) => Promise<void>
}

/** `memory`: what was found in earlier tasks is given to the programs. @throws Error with what to do if the program cannot be started. */
export const startLauncher = async (daybook: Daybook, url: string, options: LauncherOptions, warn: (message: string) => void, memory?: MemoryService): Promise<Launcher> => {
  const { command: [command = '', ...args], concurrency = 1, queues = ['default'], ...wanted } = options
  const obstacle = await cannotStart(command, process.env.PATH)
  if (obstacle !== undefined) throw new Error(`the launcher's program: ${obstacle}`)
  const workers: Array<TaskWorker> = []
  for (const queue of queues) {
    const source = engineSource(await daybook.open(queue), undefined, memory)
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
            // The server is at fault, and not the task: it goes back without counting an attempt.
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
