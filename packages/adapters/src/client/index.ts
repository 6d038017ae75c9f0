/** Talking to a Daybook server: `createClient`. */
export type * from './approvals.js'
export { createClient, type DaybookClient, type EnqueueAllOptions } from './client.js'
export { DaybookError, type ErrorCode } from './errors.js'
export type * from './explanation.js'
export type { CallOptions, ClientOptions, GatherOptions } from './options.js'
export type * from './limits.js'
export type * from './schedules.js'
export type * from './types.js'
