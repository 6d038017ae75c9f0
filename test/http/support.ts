/** A server on a free port, and a client that checks every answer against the contract. */
import { connect } from 'node:net'
import { openTokens } from '@daybook/adapters/auth'
import { createDaybook, type Daybook } from '@daybook/adapters/engine'
import { type HttpServer, type HttpServerOptions, startHttpServer } from '@daybook/adapters/http'
import { openMemoryStore } from '@daybook/adapters/memory'
import type { EventStore } from '@daybook/adapters/store'
import { afterAll } from 'vitest'
import { misfits } from './schema.js'

export const adminToken = 'dbk_test-token-of-the-http-tests'

// These tests are about the contents of answers. A type would only repeat the assertions.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Body = any

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: Body
  readonly text: string
  /** From `X-Daybook-Revision`. */
  readonly revision: number | undefined
}

export interface CallOptions {
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as it is, instead of JSON. */
  readonly raw?: string | Uint8Array<ArrayBuffer>
  readonly signal?: AbortSignal
}

export interface TestServer {
  readonly http: HttpServer
  readonly daybook: Daybook
  readonly store: EventStore
  readonly call: (method: string, path: string, body?: unknown, options?: CallOptions) => Promise<Answer>
  readonly get: (path: string, options?: CallOptions) => Promise<Answer>
  readonly post: (path: string, body?: unknown, options?: CallOptions) => Promise<Answer>
  /** Events of the queue's stream, from the store itself. */
  readonly eventCount: (queue: string) => Promise<number>
  readonly stop: () => Promise<void>
}

export const startTestServer = async (
  options: Partial<HttpServerOptions> = {},
  store: EventStore = openMemoryStore(),
): Promise<TestServer> => {
  const daybook = options.daybook ?? createDaybook({ store })
  const { tokens } = openTokens({ dir: 'memory', adminToken })
  const http = await startHttpServer({ daybook, tokens, port: 0, ...options })
  const contract = await (await fetch(`${http.url}/api/openapi.json`)).json()

  const call: TestServer['call'] = async (method, path, body, { headers = {}, raw, signal } = {}) => {
    const sent = raw ?? (body === undefined ? undefined : JSON.stringify(body))
    const response = await fetch(`${http.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${adminToken}`,
        ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(sent === undefined ? {} : { body: sent }),
      ...(signal === undefined ? {} : { signal }),
    })
    const text = await response.text()
    const isJson = /json(;|$)/.test(response.headers.get('content-type') ?? '') && text !== ''
    const answer: Answer = {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson && !response.headers.get('content-type')?.includes('ndjson') ? JSON.parse(text) : undefined,
      revision: response.headers.has('x-daybook-revision') ? Number(response.headers.get('x-daybook-revision')) : undefined,
    }
    holdToContract(contract, method, path, answer)
    return answer
  }
  return {
    http,
    daybook,
    store,
    call,
    get: (path, given) => call('GET', path, undefined, given),
    post: (path, body, given) => call('POST', path, body, given),
    eventCount: async (queue) => (await store.head(`taskqueue-${queue}`)) + 1,
    stop: async () => {
      await http.close(1_000)
      await daybook.close()
    },
  }
}

/** A server for all tests of the calling file, and its contract. Stopped after the last test. */
export const serverWithContract = async (): Promise<{ readonly server: TestServer; readonly contract: Body }> => {
  const server = await startTestServer()
  afterAll(() => server.stop())
  return { server, contract: (await server.get('/api/openapi.json')).body }
}

/** @throws Error if an answer breaks the contract. */
export const holdToContract = (contract: Body, method: string, path: string, { status, body, headers }: Omit<Answer, 'text' | 'revision'>): void => {
  const { schemas } = contract.components
  if (status >= 400) {
    if (headers.get('content-type') !== 'application/problem+json; charset=utf-8') throw new Error(`${status} is not a problem document`)
    if (body === undefined) return
    fail(misfits({ $ref: '#/components/schemas/Problem' }, body, schemas), method, path)
    if (body.status !== status) throw new Error(`${method} ${path}: ${status}, but its document says ${body.status}`)
    const refused = operationAt(contract, method, path)
    if (refused !== undefined && !codesOf(contract, refused, status).includes(body.code)) throw new Error(`${method} ${path}: ${status} ${body.code} is not in the contract`)
    return
  }
  const operation = operationAt(contract, method, path)
  if (operation === undefined) throw new Error(`${method} ${path} is not in the contract`)
  const response = operation.responses[status]
  if (response === undefined) throw new Error(`${method} ${path}: ${status} is not in the contract`)
  const schema = response.content['application/json']?.schema
  if (schema !== undefined && body !== undefined) fail(misfits(schema, body, schemas), method, path)
}

const operationAt = (contract: Body, method: string, path: string): Body => {
  const plain = path.split('?', 1)[0] as string
  const template = Object.keys(contract.paths)
    .filter((each) => each !== '/api/ws' && new RegExp(`^${each.replace(/\{\w+\}/g, '[^/]+')}$`).test(plain))
    .sort((a, b) => a.split('{').length - b.split('{').length)[0]
  return template === undefined ? undefined : contract.paths[template][method.toLowerCase()]
}

/** The problems that an operation may answer with under a status; those that any request may meet have any status. */
const codesOf = (contract: Body, { responses }: Body, status: number): ReadonlyArray<string> =>
  [responses[status], responses.default].flatMap((reference) => (reference === undefined ? [] : contract.components.responses[reference.$ref.split('/').pop()].content['application/problem+json'].schema.allOf[1].properties.code.enum))

const fail = (found: ReadonlyArray<string>, method: string, path: string): void => {
  if (found.length > 0) throw new Error(`${method} ${path} breaks the contract: ${found.join('; ')}`)
}

/** Sends bytes over a socket as they are, and returns everything received until the other side ends. */
export const rawRequest = (port: number, parts: ReadonlyArray<string>, { endAfter = false } = {}): Promise<string> =>
  new Promise((resolve, reject) => {
    let received = ''
    const socket = connect(port, '127.0.0.1', () => {
      for (const part of parts) socket.write(part)
      if (endAfter) socket.end()
    })
    socket.setEncoding('utf8')
    socket.on('data', (chunk: string) => (received += chunk))
    socket.on('close', () => resolve(received))
    socket.on('error', (error: NodeJS.ErrnoException) => (error.code === 'ECONNRESET' ? resolve(received) : reject(error)))
  })

export const report = { success: true, output: { done: true }, decisionReport: 'chose the short way' }
