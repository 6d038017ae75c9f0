/** Tests with a queue: `createTestQueue`. */
export type { Drained, DrainedRun, DrainOptions, Handlers } from './drain.js'
export type { WantedTask } from './enqueued.js'
export { createTestQueue, type TestQueue, type TestQueueOptions } from './test-queue.js'
