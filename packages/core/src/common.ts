/**
 * Names, statuses, settings and texts: what a client needs of the domain. It is apart from `index.ts`, so that a service that enqueues tasks, or a
 * command that asks a server, does not load decisions, the fold and queries.
 */
export { isExactNumber, Json, jsonDepthMax, JsonObject, LongJson, NotJson } from './text/json.js'
export { canonicalJson, CanonicalText, escaped, quote } from './text/json-text.js'
export { plural, theFirst } from './text/plural.js'
export { listOf, recordOf } from './model/list.js'
export type { MayLack, MayLackAnywhere } from './model/may-lack.js'
export * from './model/rejections.js'
export * from './model/scalars.js'
export * from './model/settings.js'
export * from './model/task.js'
export * from './model/task-fields.js'
export * from './model/trace-parent.js'
export { fieldErrorsOf, validate } from './model/validate.js'
export { daybookVersion, isNewer, needsOf } from './model/version.js'
