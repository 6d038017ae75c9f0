/** Generates the OpenAPI 3.1 document from the table of routes, their examples, and the descriptions of their fields. */
import type * as t from 'io-ts'
import { rolesOf } from '../routes/access.js'
import type { Input, Route } from '../routes/route.js'
import { examples, recorded } from './examples/index.js'
import { pathExamples, requestExamples, type Shown, shownExamples } from './example-parts.js'
import { answerHeaders, headerComponents } from './headers.js'
import { introduction } from './introduction.js'
import { type JsonSchema, schemaOf } from './json-schema.js'
import { ProblemResponses } from './problem-responses.js'
import { tags } from './tags.js'
import { webSocketOperation, webSocketPath } from './web-socket.js'
import { withWords } from './words.js'
import { parameterWords } from './parameter-words.js'

export const openApi = (routes: ReadonlyArray<Route>, version: string): JsonSchema => {
  const components = new Map<string, JsonSchema>()
  const problems = new ProblemResponses(components)
  const paths: Record<string, Record<string, JsonSchema>> = {}
  for (const route of routes) {
    const item = (paths[route.path] ??= {})
    item[route.method.toLowerCase()] = operation(route, components, problems)
  }
  paths[webSocketPath] = { get: webSocketOperation(problems) }
  return {
    openapi: '3.1.0',
    info: { title: 'Daybook', version, description: introduction, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: '/', description: 'The server that this document comes from.' }],
    security: [{ token: [] }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'A token: see `POST /api/tokens`. `x-daybook-roles` of an operation says which roles may call it.' } },
      headers: headerComponents,
      responses: problems.all(),
      schemas: withWords(Object.fromEntries([...components].sort(([a], [b]) => (a < b ? -1 : 1)))),
    },
  }
}

const operation = (route: Route, components: Map<string, JsonSchema>, problems: ProblemResponses): JsonSchema => {
  const shown = shownExamples(`${route.method} ${route.path}`, examples, recorded)
  return {
    operationId: operationId(route),
    summary: route.summary,
    description: route.description ?? route.summary,
    tags: [route.tag],
    'x-daybook-roles': rolesOf(route.who),
    'x-daybook-tenants': route.tenants,
    security: route.who === 'anyone' ? [] : [{ token: [] }],
    parameters: [...pathParameters(route.path, shown), ...queryParameters(route.query, components, shown), ...headerParameters(route)],
    ...(route.body === undefined
      ? {}
      : {
          requestBody: {
            required: !route.body.mayBeAbsent,
            content: { 'application/json': { schema: schemaOf(route.body.schema, components), examples: requestExamples(shown) } },
          },
        }),
    responses: {
      ...Object.fromEntries(Object.entries(route.answers).map(([status, answer]) => [status, answerOf(route, Number(status), answer, components, shown)])),
      ...problems.of(route),
    },
  }
}

/** `POST /api/queues/{queue}/tasks/{id}/complete` → `postQueuesQueueTasksIdComplete`. */
const operationId = ({ method, path }: Route): string =>
  method.toLowerCase() +
  path
    .replace(/^\/api/, '')
    .split(/[^A-Za-z]+/)
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('')

const pathParameters = (path: string, shown: ReadonlyArray<Shown>): ReadonlyArray<JsonSchema> =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    description: parameterWords[path.includes('/approvals/{id}') && name === 'id' ? 'approvalId' : path.includes('/tokens/{id}') ? 'tokenId' : name],
    schema: { type: 'string' },
    examples: pathExamples(shown, (each) => each.params[name]),
  }))

const queryParameters = (query: Input<unknown> | undefined, components: Map<string, JsonSchema>, shown: ReadonlyArray<Shown>): ReadonlyArray<JsonSchema> => {
  const { props = {} } = (query?.schema ?? {}) as { readonly props?: Readonly<Record<string, t.Mixed>> }
  return Object.entries(props).map(([name, codec]) => {
    const schema = schemaOf(codec, components)
    const values = pathExamples(shown, (each) => typed(each.query[name], schema))
    return { name, in: 'query', required: false, description: parameterWords[name], schema, ...(Object.keys(values).length === 0 ? {} : { examples: values }) }
  })
}

/** A parameter is text in the address. If its type is a number, its example is a number. */
const typed = (text: string | undefined, { type }: JsonSchema): unknown => (text !== undefined && (type === 'integer' || type === 'number') ? Number(text) : text)

const headerParameters = ({ method, path }: Route): ReadonlyArray<JsonSchema> => {
  const header = (name: string, description: string, schema: JsonSchema, example: string) => ({ name, in: 'header', required: false, description, schema: { type: 'string', ...schema }, example })
  const correlation = header('X-Correlation-Id', 'Recorded in the log and sent back. The server makes one if it is absent or has other characters.', { pattern: '^[\\x21-\\x7e]{1,128}$' }, 'ci-run-4711')
  const trace = header('traceparent', 'The span that the caller is in, by W3C Trace Context. New tasks without one of their own get it.', {}, '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01')
  if (method !== 'POST') return [correlation, trace]
  const key = header('Idempotency-Key', 'The same key and body within 24 hours get the same answer. For another request it is refused with `conflict`. A server keeps these answers in memory: a restart, or 10,000 later ones, let it forget them.', { pattern: '^[\\x20-\\x7e]{1,255}$' }, 'deploy-2026-01-05')
  const request = header(
    'Daybook-Request-Id',
    'A UUID in lower case, a new one for each request. Ids of tasks without an id are made from it, so a request that is sent again enqueues nothing twice, whatever `deduplicate` is.',
    { format: 'uuid' },
    '0198c2f4-7d1e-7c3a-9b52-5f0e4d2c1a63',
  )
  // An import recognises what it has taken over before, whatever the ids are.
  return /\/(tasks|batches|restart|restart_task)$/.test(path) ? [correlation, trace, key, request] : [correlation, trace, key]
}

const answerOf = (route: Route, status: number, answer: t.Mixed | string, components: Map<string, JsonSchema>, shown: ReadonlyArray<Shown>): JsonSchema => {
  const content = (type: string, schema: JsonSchema) => [type, { schema, ...answerExamples(shown, status, type) }] as const
  const text = { type: 'string' }
  return {
    description: route.summary,
    headers: answerHeaders(route.of !== 'server' && route.revision !== 'none'),
    content: Object.fromEntries([
      typeof answer === 'string' ? content(answer, text) : content('application/json', schemaOf(answer, components)),
      ...(route.also ?? []).map((type) => content(type, text)),
      ...(route.lines === true ? [content('application/x-ndjson', text)] : []),
    ]),
  }
}

const answerExamples = (shown: ReadonlyArray<Shown>, status: number, type: string): JsonSchema => {
  const fitting = shown.filter(({ answer }) => answer.status === status && answer.type === type)
  return fitting.length === 0 ? {} : { examples: Object.fromEntries(fitting.map(({ key, title, answer }) => [key, { summary: title, value: answer.body }])) }
}
