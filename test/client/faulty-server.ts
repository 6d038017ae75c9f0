/**
 * A server with faults on demand, for failures that are too rare with a real one. It handles bulk enqueues and
 * outcomes, claims and health; tests answer everything else themselves.
 */
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Seen {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly text: string
  // Tests read any part of a body, so it has no type.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly body: any
  readonly at: number
  /** Whether the caller disconnected before the answer was complete. */
  left: boolean
}

export type Fault =
  /** The connection breaks before the request is processed. */
  | 'drop-before'
  /** The request is processed, but the connection breaks before the answer. */
  | 'drop-after'
  /** The request is processed, and half of the answer arrives. */
  | 'half'
  | { readonly status: number; readonly text: string; readonly headers?: Readonly<Record<string, string>> }

export interface FaultyServer {
  readonly url: string
  readonly seen: Array<Seen>
  /** The enqueued tasks by id. */
  readonly tasks: Map<string, unknown>
  /** The fault of a request; `undefined` for none. */
  fault: (request: Seen, index: number) => Fault | undefined
  /** A result that replaces the usual one for an item of a bulk request. */
  item: (item: { readonly [key: string]: unknown }, index: number) => object | undefined
  /** Answers are held back until this resolves. */
  held: Promise<void>
  /** The largest number of open requests at a time. */
  openMax: number
  readonly close: () => Promise<void>
}

export const problemOf = (status: number, code: string, more: object = {}): object => ({
  type: `urn:daybook:problem:${code}`,
  title: code,
  status,
  code,
  detail: `${code}, said the server`,
  ...more,
})
export const refuse = (status: number, code: string, headers: Readonly<Record<string, string>> = {}): Fault => ({
  status,
  text: JSON.stringify(problemOf(status, code)),
  headers: { 'content-type': 'application/problem+json', ...headers },
})

export const faultyServer = async (): Promise<FaultyServer> => {
  let open = 0
  const http: Server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString()
      const { method = '', url: path = '', headers } = request
      const seen: Seen = { method, path, headers, text, body: text === '' ? undefined : JSON.parse(text), at: Date.now(), left: false }
      server.openMax = Math.max(server.openMax, ++open)
      response.on('close', () => {
        open--
        seen.left = !response.writableFinished
      })
      void answer(seen, server.seen.push(seen) - 1, response)
    })
  })

  const answer = async (seen: Seen, index: number, response: ServerResponse): Promise<void> => {
    const fault = server.fault(seen, index)
    if (fault === 'drop-before') return void response.destroy()
    if (typeof fault === 'object') return void response.writeHead(fault.status, { ...fault.headers }).end(fault.text)
    const text = JSON.stringify(usual(seen))
    await server.held
    if (fault === 'drop-after') return void response.destroy()
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
    if (fault === 'half') return void response.write(text.slice(0, text.length / 2), () => response.destroy())
    response.end(text)
  }

  const usual = ({ path, body }: Seen): object => {
    if (path.endsWith('/tasks') && Array.isArray(body?.tasks)) return { results: body.tasks.map(enqueue), revision: server.tasks.size }
    if (path.endsWith('/outcomes')) return { results: body.outcomes.map(settle) }
    if (path.endsWith('/claims')) return { claims: [] }
    return { status: 'ok' }
  }
  const enqueue = (task: { readonly [key: string]: unknown }, index: number): object => {
    const special = server.item(task, index)
    if (special !== undefined) return special
    const id = `id-of-${JSON.stringify(task.payload)}`
    const duplicate = server.tasks.has(id)
    if (!duplicate) server.tasks.set(id, task)
    return { id, number: server.tasks.size, status: 'pending', duplicate }
  }
  const settle = (outcome: { readonly [key: string]: unknown }, index: number): object =>
    server.item(outcome, index) ??
    (outcome.kind === 'heartbeat'
      ? { lease: { token: outcome.token, expiresAt: '2026-07-01T12:00:00.000Z' } }
      : { status: outcome.kind === 'complete' ? 'completed' : 'pending', for: outcome.taskId })

  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const server: FaultyServer = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    seen: [],
    tasks: new Map(),
    fault: () => undefined,
    item: () => undefined,
    held: Promise.resolve(),
    openMax: 0,
    close: () =>
      new Promise((resolve) => {
        http.close(() => resolve())
        http.closeAllConnections()
      }),
  }
  return server
}

/** A promise, and the function that resolves it. */
export const latch = (): { readonly opened: Promise<void>; readonly open: () => void } => {
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => (open = resolve))
  return { opened, open }
}

/** Waits until the condition holds; fails after thirty seconds. */
export const until = async (isSo: () => boolean, what: string): Promise<void> => {
  for (const end = Date.now() + 30_000; !isSo(); ) {
    if (Date.now() > end) throw new Error(`not in time: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}
