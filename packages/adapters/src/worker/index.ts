/** Working on a queue's tasks: `createWorker`. */
export { httpSource } from './http-source.js'
export type {
  ClaimedWork,
  Heartbeat,
  HeartbeatAnswer,
  Refused,
  SettleAnswer,
  SettleOutcome,
  SourceClaim,
  TaskSource,
  WorkTask,
} from './source.js'
