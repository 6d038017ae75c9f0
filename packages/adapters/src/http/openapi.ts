/** Makes the OpenAPI 3.1 document from the table of routes. */
import type * as t from 'io-ts'
import { rolesOf } from './access.js'
import { ProblemAnswer } from './answers/parts.js'
import { type JsonSchema, schemaOf } from './json-schema.js'
import type { Input, Route } from './route.js'

export const openApi = (routes: ReadonlyArray<Route>, version: string): JsonSchema => {
  const components = new Map<string, JsonSchema>()
  const problem = { 'application/problem+json': { schema: schemaOf(ProblemAnswer, components) } }
  const paths: Record<string, Record<string, JsonSchema>> = {}
  for (const route of routes) {
    const item = (paths[route.path] ??= {})
    item[route.method.toLowerCase()] = operation(route, components, problem)
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Daybook',
      version,
      description: 'An event-sourced task queue. Times are ISO 8601 in UTC, durations are seconds; unknown fields are refused.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: Object.fromEntries([...components].sort(([a], [b]) => (a < b ? -1 : 1))),
    },
  }
}

const operation = (route: Route, components: Map<string, JsonSchema>, problem: JsonSchema): JsonSchema => ({
  operationId: operationId(route),
  summary: route.summary,
  tags: [route.of === 'server' ? 'server' : 'queue'],
  'x-daybook-roles': rolesOf(route.who),
  'x-daybook-tenants': route.tenants,
  ...(route.who === 'anyone' ? { security: [] } : {}),
  parameters: [...pathParameters(route.path), ...queryParameters(route.query, components), ...headerParameters(route)],
  ...(route.body === undefined
    ? {}
    : {
        requestBody: {
          required: !route.body.mayBeAbsent,
          content: { 'application/json': { schema: schemaOf(route.body.schema, components) } },
        },
      }),
  responses: {
    ...Object.fromEntries(
      Object.entries(route.answers).map(([status, answer]) => [status, answerOf(route, answer, components)]),
    ),
    default: { description: 'The request failed: `code` says why.', content: problem },
  },
})

/** `POST /api/queues/{queue}/tasks/{id}/complete` → `postQueuesQueueTasksIdComplete`. */
const operationId = ({ method, path }: Route): string =>
  method.toLowerCase() +
  path
    .replace(/^\/api/, '')
    .split(/[^A-Za-z]+/)
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('')

const pathParameters = (path: string): ReadonlyArray<JsonSchema> =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
    ...(name === 'id' ? { description: 'The id, or `#number` (`%2342`).' } : {}),
  }))

const queryParameters = (query: Input<unknown> | undefined, components: Map<string, JsonSchema>): ReadonlyArray<JsonSchema> => {
  const { props = {} } = (query?.schema ?? {}) as { readonly props?: Readonly<Record<string, t.Mixed>> }
  return Object.entries(props).map(([name, codec]) => ({
    name,
    in: 'query',
    required: false,
    schema: schemaOf(codec, components),
  }))
}

const headerParameters = ({ method, path }: Route): ReadonlyArray<JsonSchema> => {
  const header = (name: string, description: string) => ({ name, in: 'header', required: false, description, schema: { type: 'string', maxLength: 128 } })
  const makesTasks = path.endsWith('/{queue}/tasks')
  const correlation = header('X-Correlation-Id', 'Recorded in the log and sent back. The server makes one if it is absent.')
  if (method !== 'POST') return [correlation]
  const key = header('Idempotency-Key', 'The same key and body within 24 hours get the same answer.')
  const request = header('Daybook-Request-Id', 'A UUID, a new one for each request. Ids of tasks without an id are made from it, so a request that is sent again enqueues nothing twice, whatever `deduplicate` is.')
  return makesTasks ? [correlation, key, request] : [correlation, key]
}

const answerOf = (route: Route, answer: t.Mixed | string, components: Map<string, JsonSchema>): JsonSchema => ({
  description: route.summary,
  headers: {
    'X-Correlation-Id': { schema: { type: 'string' } },
    ...(route.of !== 'server'
      ? { 'X-Daybook-Revision': { description: 'Revision of the queue that this answer shows.', schema: { type: 'integer' } } }
      : {}),
  },
  content: {
    ...(typeof answer === 'string'
      ? { [answer]: { schema: { type: 'string' } } }
      : { 'application/json': { schema: schemaOf(answer, components) } }),
    ...Object.fromEntries((route.also ?? []).map((type) => [type, { schema: { type: 'string' } }])),
    ...(route.lines === true ? { 'application/x-ndjson': { schema: { type: 'string' } } } : {}),
  },
})
