/** The headers of answers. */
import { securityHeaders } from '../security-headers.js'
import type { JsonSchema } from './json-schema.js'

const text = { type: 'string' }
const fixed = (value: string): JsonSchema => ({ schema: { const: value }, example: value })

const common = {
  'X-Correlation-Id': { description: 'The one of the request, or a new one. The log has it, too.', schema: text, example: 'ci-run-4711' },
  'Cache-Control': { description: 'Answers are of the moment.', ...fixed('no-store') },
  ...Object.fromEntries(
    Object.entries(securityHeaders).map(([name, value]) => [name.replace(/(^|-)([a-z])/g, (_, dash: string, letter: string) => dash + letter.toUpperCase()), { description: 'For browsers.', ...fixed(value) }]),
  ),
}
const ofQueue = { 'X-Daybook-Revision': { description: 'The revision of the queue that this answer shows.', schema: { type: 'integer', minimum: -1 }, example: 41 } }
const ofProblems = {
  'Retry-After': { description: 'Whole seconds after which it may be tried again. `retryAfterSeconds` in the body is more exact.', schema: { type: 'integer', minimum: 1 }, example: 1 },
  'WWW-Authenticate': { description: 'A token is required.', ...fixed('Bearer') },
}

export const headerComponents: JsonSchema = { ...common, ...ofQueue, ...ofProblems }

const refer = (names: ReadonlyArray<string>): JsonSchema => Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

/** `ofQueue`: the answer is about a queue. */
export const answerHeaders = (isOfQueue: boolean): JsonSchema => refer(Object.keys(isOfQueue ? { ...common, ...ofQueue } : common))

export const problemHeaders = (status: number, mayWait: boolean): JsonSchema =>
  refer([...Object.keys({ ...common, ...ofQueue }), ...(mayWait ? ['Retry-After'] : []), ...(status === 401 ? ['WWW-Authenticate'] : [])])
