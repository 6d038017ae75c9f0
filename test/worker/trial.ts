/** A worker on a queue in memory, new for each test. Time is virtual: waits take none, and a slow machine changes nothing. */
import { afterEach, beforeEach } from 'vitest'
import { createWorker, type TaskWorker, type WorkerEvent, type WorkerOptions } from '@daybook/adapters/worker'
import { useVirtualTime } from '../support/virtual-time.js'
import { MemorySource } from './memory-source.js'

export let source: MemorySource
/** The worker started last. */
export let worker: TaskWorker
/** Its events, except accepted outcomes. */
export let events: Array<WorkerEvent>
export type Accepted = Extract<WorkerEvent, { type: 'outcome-accepted' }>
export let accepted: Array<Accepted>

/** Makes them for each test of the calling file. */
export const useTrial = (): void => {
  useVirtualTime()
  beforeEach(() => {
    source = new MemorySource()
    events = []
    accepted = []
  })
  afterEach(() => worker.stop({ graceMs: 0 }))
}

/** Starts the test's worker. It is stopped at the end of the test. */
export const work = (options: Omit<WorkerOptions, 'source'>): TaskWorker => {
  const onEvent = (event: WorkerEvent): void => void (event.type === 'outcome-accepted' ? accepted.push(event) : events.push(event))
  worker = createWorker({ source, onEvent, ...options })
  worker.start()
  return worker
}

/** Resolves to the reason when the signal aborts. */
export const aborted = (signal: AbortSignal): Promise<Error> =>
  new Promise((resolve) => (signal.aborted ? resolve(signal.reason) : signal.addEventListener('abort', () => resolve(signal.reason), { once: true })))
