/** The worker on a queue's tasks: `createWorker`. */
export type { OnWorkerEvent, WorkerEvent, WorkerStats } from './events.js'
export { type Handler, type HandlerContext, LeaseLost, Park, PermanentError, Release, RetryLater, RunTimeExceeded, WorkerStopped } from './handler.js'
export { httpSource } from './http-source.js'
export type { StopOptions, TypedWorkerOptions, WorkerOptions } from './options.js'
export type {
  ClaimedWork,
  Heartbeat,
  HeartbeatAnswer,
  ReceivedCallback,
  Refused,
  SettleAnswer,
  SettleOutcome,
  SourceClaim,
  TaskSource,
  WorkTask,
} from './source.js'
export { handlerOf, type HandlerResult, InvalidPayload, InvalidResult, type TypedHandler } from './typed-handler.js'
export { createWorker, type TaskWorker } from './worker.js'
