/** The WebSocket. OpenAPI cannot describe what comes after the handshake, so `x-daybook-messages` is the schema of each message. */
import { readers, rolesOf } from '../routes/access.js'
import { type ProblemCode, statusOf } from '../problem.js'
import type { MessageEvent } from '../websocket/message-events.js'
import type { JsonSchema } from './json-schema.js'
import type { ProblemResponses } from './problem-responses.js'

export const webSocketPath = '/api/ws'

const text = { type: 'string' }
const orNull = (type: string): JsonSchema => ({ type: [type, 'null'] })
const task = { task_id: orNull('string') }
const agent = { agent_id: orNull('string') }
const described = { ...task, description: orNull('string') }

/** Payloads by event. All members may be absent, except those that are named first. */
const payloads: Readonly<Record<MessageEvent, Readonly<Record<string, JsonSchema>>>> = {
  task_created: described,
  task_queued: { ...described, queue_position: orNull('integer'), slots_available: orNull('integer') },
  task_completed: { ...task, ...agent, status: { enum: ['COMPLETED', 'FAILED', 'CANCELLED'] }, summary: orNull('string') },
  task_priority_bumped: { ...task, ...agent },
  agent_created: { ...agent, ...task },
  agent_status_changed: { ...agent, status: { enum: ['working', 'idle', 'waiting', 'terminated'] }, ...task },
  lease_lost: { ...task, ...agent, cause: text },
  breaker_changed: { task_type: text, state: text, cause: orNull('string'), reason: orNull('string') },
  slowdown: { task_type: text, agent_id: orNull('string'), until: { type: 'string', format: 'date-time' } },
  alert_raised: { key: text, kind: text, message: text },
  alert_cleared: { key: text },
}

const message = {
  description: 'A message of the WebSocket. They come in the order of the log; an event may have two, with the same revision.',
  oneOf: Object.entries(payloads).map(([event, properties]) => ({
    type: 'object',
    properties: {
      event: { const: event },
      timestamp: { type: 'string', format: 'date-time', description: 'When it happened.' },
      revision: { type: 'integer', minimum: 0, description: 'That of the event in the log: come back with it as `from`.' },
      payload: { type: 'object', properties },
    },
    required: ['event', 'timestamp', 'revision', 'payload'],
    additionalProperties: false,
  })),
}

const codes: ReadonlyArray<ProblemCode> = ['invalid', 'unauthorized', 'forbidden', 'not-found', 'too-many-requests', 'overloaded', 'unavailable']

export const webSocketOperation = (problems: ProblemResponses): JsonSchema => ({
  operationId: 'watch',
  summary: 'Watches a queue over a WebSocket.',
  description:
    'A request for an upgrade to a WebSocket; without the headers for that, there is nothing here (404). Then each message is a JSON object (`x-daybook-messages`), first those from the revision `from` on, then what happens, as it happens. The client sends nothing. ' +
    'The server closes with 4001 when the token has ended, 4008 when the client is too slow, 1001 when it stops, 1011 when it cannot read the log; come back with the last revision. Pages of other origins are refused.',
  tags: ['server'],
  'x-daybook-roles': rolesOf(readers),
  'x-daybook-tenants': 'refused',
  'x-daybook-messages': message,
  security: [{ token: [] }],
  parameters: [
    { name: 'queue', in: 'query', required: false, description: 'Default: `default`.', schema: text, example: 'builds' },
    { name: 'from', in: 'query', required: false, description: 'The first revision, or `end`, the default: what happens from now on.', schema: { type: 'string', pattern: '^(end|\\d{1,15})$' }, example: '0' },
    { name: 'Sec-WebSocket-Protocol', in: 'header', required: false, description: 'For browsers, which cannot send a token otherwise: `daybook, bearer.TOKEN`, with the token percent-encoded.', schema: text, example: 'daybook, bearer.dbk_2f8c' },
  ],
  responses: {
    101: { description: 'The WebSocket is open.', headers: { 'X-Daybook-Revision': { description: 'The revision before the first message.', schema: { type: 'integer' }, example: 41 } } },
    ...problems.from(codes.map((code) => ({ status: statusOf(code), code }))),
  },
})
