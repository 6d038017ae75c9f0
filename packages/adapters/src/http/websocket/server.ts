/** `GET /api/ws?queue=NAME&from=REVISION|end`: a queue's messages over a WebSocket. */
import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { QueueName } from '@daybook/core'
import type { FastifyBaseLogger } from 'fastify'
import * as E from 'fp-ts/lib/Either.js'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Grant, Tokens } from '../../auth/index.js'
import { type Daybook, type QueueEngine, streamOf } from '../../engine/index.js'
import { errorText } from '../../error-text.js'
import { readers, refusalOfQueue, refusalOfTenants } from '../routes/access.js'
import { correlationIdOf } from '../correlation-id.js'
import { unicodeText } from '../json/text.js'
import { guard, isOwnOrigin, type Refused } from '../guard.js'
import type { Meter } from '../metrics/meter.js'
import { problem, type Problem, problemText, retryAfterOf } from '../problem.js'
import { noRoute, type RequestLog } from '../request-log/index.js'
import { securityHeaderLines } from '../security-headers.js'
import { feed } from './feed.js'
import type { Message } from './messages.js'

export interface WebSocketOptions {
  readonly daybook: Daybook
  readonly tokens: Tokens | 'off'
  readonly isReplayed: () => boolean
  /** Counts each request for a WebSocket. */
  readonly meter: Meter
  /** Is told of each request for a WebSocket. */
  readonly requestLog?: RequestLog | undefined
  /** Receives why the messages of a client end: the client is told only that the log cannot be read. Default: none. */
  readonly logger?: Pick<FastifyBaseLogger, 'error'> | undefined
  readonly limits?: Partial<WebSocketLimits>
}

export interface WebSocketLimits {
  /** The largest number of clients. Default 1,000. */
  readonly clientsMax: number
  /** The largest number of bytes that wait to be sent to one client. Default 1,048,576. */
  readonly bufferBytesMax: number
  /** How long a client may take to make room before it is closed with 4008, in milliseconds. Default 30,000. */
  readonly slowMs: number
  /** Interval of pings, in milliseconds. A client that has not answered one by the next is disconnected. Default 30,000. */
  readonly pingMs: number
}

const limitsDefault: WebSocketLimits = { clientsMax: 1_000, bufferBytesMax: 1_048_576, slowMs: 30_000, pingMs: 30_000 }

/** The client was too slow. It may reconnect from the last revision that it got. */
const tooSlow = 4008
/** The log cannot be read now. */
const internalError = 1011
/** The token was revoked, or has expired. */
const tokenEnded = 4001
/** The server stops. */
const goingAway = 1001

export interface WebSockets {
  readonly clients: () => number
  /** Closes all clients with 1001. Those that do not answer are disconnected after a second. */
  readonly close: () => Promise<void>
}

const path = '/api/ws'
/** The answer to a request for that path without the headers of a WebSocket; `undefined` for another path. */
export const notAnUpgrade = (asked: string): Problem | undefined =>
  asked === path ? problem('not-found', `there is only a WebSocket at ${path}, and this request asks for none: a proxy in between must pass on the headers Upgrade and Connection`) : undefined

const parameters: ReadonlyArray<string> = ['queue', 'from']
const bearer = 'bearer.'
/** Of a token that is percent-encoded, because a subprotocol cannot have all characters of a header. */
const decoded = (token: string): string => {
  try {
    return decodeURIComponent(token)
  } catch {
    return token
  }
}

/** Serves WebSockets on an HTTP server. */
export const serveWebSockets = (http: Server, { daybook, tokens, isReplayed, meter, requestLog, logger, limits: given }: WebSocketOptions): WebSockets => {
  const limits = { ...limitsDefault, ...given }
  const admit = guard(tokens)
  const sockets = new WebSocketServer({
    noServer: true,
    clientTracking: true,
    // Clients send no messages.
    maxPayload: 1_024,
    perMessageDeflate: false,
    handleProtocols: (offered) => [...offered].find((name) => name === 'daybook') ?? [...offered][0] ?? false,
  })
  /** For each admitted request: the revision before its first one, for the answer; and how it is refused. */
  const admittedRequests = new WeakMap<IncomingMessage, { readonly before: number; readonly refuse: (what: Problem) => void }>()
  sockets.on('headers', (headers, request) => {
    const admitted = admittedRequests.get(request)
    if (admitted !== undefined) headers.push(`x-daybook-revision: ${admitted.before}`)
  })
  // Without a listener, the library would answer itself, with HTML.
  sockets.on('wsClientError', ({ message }, _, request) => admittedRequests.get(request)?.refuse(problem('invalid', `this is no request for a WebSocket of version 13: ${message}`)))
  let isClosing = false

  const admittedTo = (request: IncomingMessage, query: URLSearchParams): E.Either<Refused, Grant> => {
    const { headers } = request
    if (isClosing) return E.left(stopping)
    const protocol = (headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim()).find((name) => name.startsWith(bearer))
    const authorization = headers.authorization ?? (protocol === undefined ? undefined : `Bearer ${decoded(protocol.slice(bearer.length))}`)
    const admitted = admit(readers, authorization === undefined ? headers : { ...headers, authorization })
    if (E.isLeft(admitted)) return admitted
    // A page of another origin must not use the token that a browser keeps for this one.
    if (headers.origin !== undefined && !isOwnOrigin(headers.origin, headers.host)) return E.left(problem('forbidden', `pages from ${headers.origin} may not read this server's queues`))
    const wrong = [...query.keys()].find((name) => !parameters.includes(name) || query.getAll(name).length > 1)
    if (wrong !== undefined) return E.left(problem('invalid', `${wrong}: ${parameters.includes(wrong) ? 'is given more than once' : `is not a parameter here; known: ${parameters.join(', ')}`}`))
    if (!QueueName.is(query.get('queue') ?? 'default')) return E.left(problem('invalid', `queue: must be a ${QueueName.name}`))
    if (!/^(end|\d{1,15})$/.test(query.get('from') ?? 'end')) return E.left(problem('invalid', 'from: must be a revision, or end'))
    if (!isReplayed()) return E.left(problem('unavailable', 'the log is being read: see /readyz', { retryAfterSeconds: 1 }))
    if (sockets.clients.size >= limits.clientsMax) return E.left(problem('overloaded', `${limits.clientsMax} WebSockets are open, which is the limit: try again later`, { retryAfterSeconds: 5 }))
    // Messages are sent as they are recorded, whichever tenant their tasks belong to.
    const notForThis = refusalOfQueue(admitted.right, query.get('queue') ?? 'default') ?? refusalOfTenants(admitted.right, 'refused')
    return notForThis === undefined ? admitted : E.left({ ...notForThis, actor: admitted.right.name })
  }

  http.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy())
    const url = targetOf(request)
    const { searchParams: query } = url
    const correlationId = correlationIdOf(request.headers)
    const note = noteOf(meter, requestLog, request, url, correlationId)
    const refuse = (what: Refused): void => {
      meter.refusedBy(what.code)
      note(what.status, what.actor, what.code)
      answer(socket, what, correlationId)
    }
    if (url.pathname !== path) return refuse(problem('not-found', `there is no WebSocket at ${url.pathname}: use ${path}`))
    const admitted = admittedTo(request, query)
    if (E.isLeft(admitted)) return refuse(admitted.left)
    const serve = async (): Promise<void> => {
      const queue = await daybook.visit(query.get('queue') ?? 'default')
      const from = query.get('from') ?? 'end'
      const end = queue.status().revision + 1
      const first = from === 'end' ? end : Number(from)
      // The log may have been replaced by an older one. Then events before that revision would silently be left out.
      const missing = first > end ? await missingBefore(daybook, queue, first) : undefined
      if (missing !== undefined) return refuse({ ...missing, actor: admitted.right.name })
      // It may have begun while the queue was opened.
      if (isClosing) return refuse({ ...stopping, actor: admitted.right.name })
      admittedRequests.set(request, { before: first - 1, refuse: (what) => refuse({ ...what, actor: admitted.right.name }) })
      sockets.handleUpgrade(request, socket, head, (client) => {
        note(101, admitted.right.name)
        meter.webSockets++
        client.once('close', () => meter.webSockets--)
        const failed = (error: unknown): void => logger?.error({ err: error, queue: queue.name, correlationId }, 'the messages of a queue broke off')
        serveClient(client, daybook, queue, first, limits, admitted.right, failed)
      })
    }
    serve().catch(
      (error: unknown) => refuse(problem('unavailable', errorText(error), { retryAfterSeconds: 1 })),
    )
  })

  return {
    clients: () => sockets.clients.size,
    close: async () => {
      isClosing = true
      for (const client of sockets.clients) client.close(goingAway, 'the server stops')
      const cut = setTimeout(() => sockets.clients.forEach((client) => client.terminate()), 1_000)
      while (sockets.clients.size > 0) await new Promise((resolve) => setTimeout(resolve, 5))
      clearTimeout(cut)
    },
  }
}

const stopping = problem('unavailable', 'the server is stopping: try again shortly', { retryAfterSeconds: 1 })

const root = 'http://localhost/'
/** The target of a request. One that cannot be parsed, such as `//`, is taken for `/`: whoever is connected may send it, also without a token. */
const targetOf = ({ url = '/' }: IncomingMessage): URL => new URL(URL.canParse(url, root) ? url : root, root)

/** Why nobody can go on from this revision; `undefined` if another server has brought the log that far already. */
const missingBefore = async (daybook: Daybook, { name }: QueueEngine, first: number): Promise<Problem | undefined> => {
  const last = await daybook.log.head(streamOf(name))
  return first > last + 1 ? problem('invalid', `from: the log of queue ${name} ends at revision ${last}: it is another one than that which had revision ${first - 1}; begin with from=0, or with from=end`) : undefined
}

/** Tells the metrics and the log of requests how a request for a WebSocket was answered. */
const noteOf = (meter: Meter, log: RequestLog | undefined, { socket, method = 'GET' }: IncomingMessage, { pathname, searchParams }: URL, correlationId: string) => {
  const began = performance.now()
  return (status: number, actor: string | undefined, code?: Problem['code']): void => {
    const queue = searchParams.get('queue') ?? 'default'
    const route = pathname === path ? path : noRoute
    meter.answered(method, route, status)
    log?.note({
      method,
      route,
      status,
      gone: false,
      ms: performance.now() - began,
      waitMs: 0,
      correlationId,
      code,
      queue: QueueName.is(queue) ? queue : undefined,
      actor,
      remote: socket.remoteAddress,
    })
  }
}

/** Answers a request for a WebSocket with a problem. */
const answer = (socket: Duplex, what: Problem, correlationId: string): void => {
  const body = problemText(what, correlationId)
  const retry = what.retryAfterSeconds === undefined ? '' : `retry-after: ${retryAfterOf(what.retryAfterSeconds)}\r\n`
  const challenge = what.status === 401 ? 'www-authenticate: Bearer\r\n' : ''
  // For a request of another version (RFC 6455, 4.4).
  const version = what.status === 400 ? 'sec-websocket-version: 13\r\n' : ''
  socket.end(
    `HTTP/1.1 ${what.status} ${STATUS_CODES[what.status] ?? ''}\r\ncontent-type: application/problem+json; charset=utf-8\r\ncache-control: no-store\r\nx-correlation-id: ${correlationId}\r\n${securityHeaderLines}${retry}${challenge}${version}content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
    // Otherwise the connection stays open until the client ends it, too.
    () => socket.destroy(),
  )
}

const serveClient = (client: WebSocket, daybook: Daybook, queue: QueueEngine, from: number, limits: WebSocketLimits, grant: Grant, failed: (error: unknown) => void): void => {
  const gone = new AbortController()
  let isAlive = true
  const ping = setInterval(() => {
    if (!isAlive) return client.terminate()
    isAlive = false
    client.ping()
  }, limits.pingMs)
  const endToken = (): void => {
    gone.abort()
    client.close(tokenEnded, 'the token was revoked or has expired')
  }
  const forget = grant.onEnd(endToken)
  client.on('pong', () => (isAlive = true))
  client.on('error', () => client.terminate())
  client.on('close', () => {
    clearInterval(ping)
    forget()
    gone.abort()
  })

  const send = async (message: Message): Promise<void> => {
    if (client.readyState !== client.OPEN) return
    client.send(unicodeText(JSON.stringify(message)))
    const until = performance.now() + limits.slowMs
    while (client.bufferedAmount > limits.bufferBytesMax && client.readyState === client.OPEN) {
      if (performance.now() > until) {
        // The close frame comes after data that the client has not read. If that takes over 30 s, the library cuts the connection.
        client.close(tooSlow, 'too slow: come back from the last revision')
        gone.abort()
        return
      }
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }

  // The token may have ended while the log was read.
  if (grant.hasEnded()) return endToken()
  feed({ daybook, queue, from, send, signal: gone.signal }).then(
    () => client.close(goingAway, 'the queue is closed'),
    (error: unknown) => {
      failed(error)
      client.close(internalError, 'the log cannot be read now')
    },
  )
}
