/** What Daybook's other packages share with the client. Not for users: it changes without notice. */
export { type Backoff, type BackoffOptions, backoff, sleep } from './backoff.js'
export { DaybookError } from './errors.js'
export type { Reason } from './explanation.js'
export { textOf } from './gather.js'
export { longTimer } from './long-timer.js'
export type { Memory } from './memory.js'
export type { SentFields } from './sent-fields.js'
export { newTaskId } from './task-id.js'
