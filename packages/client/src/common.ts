/**
 * Back-off, timers, ids, joined signals and the form of tokens, which Daybook's other packages share with the client. They are apart from `internal.ts`, so that a
 * thread does not load undici and ws for the sake of a timer. Not for users: it changes without notice.
 */
export { type Backoff, type BackoffOptions, backoff, sleep } from './transport/backoff.js'
export { joined } from './transport/abort.js'
export { isToken } from './transport/header-text.js'
export { longTimer } from './transport/long-timer.js'
export { pause } from './transport/retry.js'
export { newTaskId } from './task-id.js'
