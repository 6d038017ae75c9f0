/** A worker on a queue in memory, new for each test. */
import { afterEach, beforeEach } from 'vitest'
import { createWorker, type TaskWorker, type WorkerEvent, type WorkerOptions } from '@daybook/adapters/worker'
import { MemorySource } from './memory-source.js'

export let source: MemorySource
/** The one started last. */
export let worker: TaskWorker
export let events: Array<WorkerEvent>

beforeEach(() => {
  source = new MemorySource()
  events = []
})
afterEach(() => worker.stop({ graceMs: 0 }))

/** Starts the test's worker; it is stopped when the test is over. */
export const work = (options: Omit<WorkerOptions, 'source'>): TaskWorker => {
  worker = createWorker({ source, onEvent: (event) => events.push(event), ...options })
  worker.start()
  return worker
}

/** Why, once it is. */
export const aborted = (signal: AbortSignal): Promise<Error> =>
  new Promise((resolve) => (signal.aborted ? resolve(signal.reason) : signal.addEventListener('abort', () => resolve(signal.reason), { once: true })))
