/** The HTTP server: Fastify around the table of routes. */
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Server as TlsServer } from 'node:tls'
import { type FastifyBaseLogger, type FastifyError, type FastifyHttpOptions, type FastifyInstance, type FastifyReply, type FastifyRequest, fastify, LogController } from 'fastify'
import * as E from 'fp-ts/lib/Either.js'
import { traceParentOf } from '@daybook/core'
import type { Grant } from '../auth/index.js'
import { notAnUpgrade, serveWebSockets, type WebSocketLimits } from './websocket/index.js'
import { refusalOfQueue, refusalOfTenants } from './routes/access.js'
import { bytesOf, readJsonBodies } from './json/body.js'
import { answerClientError } from './client-error.js'
import { Connections } from './connections.js'
import { type ConsoleSite, serveConsole } from './console/index.js'
import { correlationIdOf } from './correlation-id.js'
import { guard, type Refused } from './guard.js'
import type { HttpLimits } from './limits.js'
import type { Meter } from './metrics/meter.js'
import { MayUpgrade } from './may-upgrade.js'
import { problem, type Problem, retryAfterOf, soonSeconds } from './problem.js'
import { problemOfError } from './problem-of-error.js'
import { probes, type RequestLog, routeOf, waitMsOf, watchRequests } from './request-log/index.js'
import type { ReadBody, Route } from './routes/route.js'
import { dropRest } from './rest-of-body.js'
import { securityHeaders } from './security-headers.js'
import { type Context, renderProblem, type Sent, serveRoute } from './serve-route.js'
import { serviceOf, type ServiceOptions } from './service.js'
import { followTls, readTls, type TlsFiles, type TlsPair } from './tls.js'
import { UnreadAnswers, whenClosed } from './unread.js'

export interface HttpServerOptions extends ServiceOptions {
  /** Default `127.0.0.1`. */
  readonly host?: string
  /** 0 picks a free port. Default 7878. */
  readonly port?: number
  /** Serves HTTPS. Default: HTTP. `lookMs`: how often the files are checked for changes, in milliseconds; default 60,000. */
  readonly tls?: TlsFiles & { readonly lookMs?: number }
  readonly webSockets?: Partial<WebSocketLimits>
  /** Receives every 500, with its stack and correlation id. Default: none. */
  readonly logger?: FastifyBaseLogger
  /** Is told of each request when it has ended. It is closed with the server. Default: none. */
  readonly requestLog?: RequestLog | undefined
  /** The console, served at `/`. Default: none. */
  readonly console?: ConsoleSite
}

export interface HttpServer {
  readonly url: string
  readonly port: number
  /** The routes that Fastify serves, for tests. */
  readonly routes: ReadonlyArray<{ readonly method: string; readonly path: string }>
  /**
   * Accepts no more requests, answers waiting claims without tasks, and lets running requests finish. After `graceMs` milliseconds (default 8,000)
   * their connections are closed. That of a client that has read nothing of its answer for `stalledMs` (default 1,000) is closed before. The daybook
   * stays open.
   */
  readonly close: (graceMs?: number, stalledMs?: number) => Promise<void>
}

declare module 'fastify' {
  interface FastifyRequest {
    /** What the caller may do. */
    grant: Grant
    /** When its headers had arrived, by `performance.now()`; 0 for a request that no route takes. */
    began: number
  }
  interface FastifyContextConfig {
    read?: ReadBody | undefined
  }
}

/** Starts listening. Rejects if the address is not available. */
export const startHttpServer = async (options: HttpServerOptions): Promise<HttpServer> => {
  const { daybook, host = '127.0.0.1', port = 7878, version = '0.1.0' } = options
  const service = serviceOf({ ...options, version })
  const { routes, context } = service
  const { limits, meter } = context
  const pair = options.tls === undefined ? undefined : readTls(options.tls)
  const app = assemble(options, limits, meter, pair, (request, reply) => watch(request, reply))
  const watch = watchRequests(app, options.requestLog)
  const served: Array<{ method: string; path: string }> = []
  app.addHook('onRoute', ({ method, url }) => {
    for (const each of [method].flat()) served.push({ method: each, path: url.replace(/:(\w+)/g, '{$1}') })
  })
  const waiting = new Set<AbortController>()
  const connections = new Connections(app.server)
  addRoutes(app, { ...options, routes, context, state: service.state, waiting })
  if (options.console !== undefined) serveConsole(app, options.console, { admit: guard(options.tokens), answered: (path, status) => meter.answered('GET', path, status), refuse: (reply, request, what) => refuse(reply, request, what, meter) })
  await app.listen({ host, port })
  const { port: bound } = app.server.address() as AddressInfo
  const sockets = serveWebSockets(app.server, { daybook, tokens: options.tokens, isReplayed: context.isReplayed, meter, requestLog: options.requestLog, logger: options.logger, ...(options.webSockets === undefined ? {} : { limits: options.webSockets }) })

  const warn = (text: string): void => options.logger?.warn(text)
  const unfollow = options.tls !== undefined && pair !== undefined && app.server instanceof TlsServer ? followTls(app.server, options.tls, pair, warn, options.tls.lookMs) : undefined

  return {
    url: urlOf(pair === undefined ? 'http' : 'https', host, bound),
    port: bound,
    routes: served,
    close: async (graceMs = 8_000, stalledMs = 1_000) => {
      service.state.isDraining = true
      unfollow?.()
      waiting.forEach((controller) => controller.abort())
      const ended = connections.end(stalledMs, graceMs)
      try {
        await sockets.close()
        await app.close()
      } finally {
        ended()
        options.requestLog?.close()
      }
    },
  }
}

/** A URL with which a program on this machine can connect. */
const urlOf = (scheme: string, host: string, port: number): string => {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `${scheme}://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`
}

/** A header's text. Several headers of one name are joined. */
const textOf = (header: string | Array<string> | undefined): string | undefined => (Array.isArray(header) ? header.join() : header)

/** Fastify with every limit set: by default it never times out, and it cuts path parameters at 100 characters. */
const assemble = ({ logger, requestLog }: HttpServerOptions, limits: HttpLimits, meter: Meter, tls: TlsPair | undefined, watch: (request: FastifyRequest, reply: FastifyReply) => void): FastifyInstance => {
  const { requestTimeoutMs, stalledMs, keepAliveMs, bodyBytesMax } = limits
  const parser = {
    IncomingMessage: MayUpgrade,
    // If it were longer than `requestTimeout` (its default is 60 s), Node would silently swap the two.
    headersTimeout: Math.min(20_000, requestTimeoutMs),
    // Node enforces these timeouts only at this interval, by default every 30 s.
    connectionsCheckingInterval: Math.min(1_000, Math.ceil(requestTimeoutMs / 4)),
  }
  const options: FastifyHttpOptions<Server> = {
    ...(logger === undefined ? { logger: false } : { loggerInstance: logger }),
    logController: new LogController({ disableRequestLogging: true }),
    requestTimeout: requestTimeoutMs,
    // When a connection has been idle for so long, `connections.ts` decides whether to cut it.
    connectionTimeout: stalledMs,
    keepAliveTimeout: keepAliveMs,
    bodyLimit: bodyBytesMax,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    exposeHeadRoutes: true,
    // 128 characters of up to four UTF-8 bytes, each byte written as %XX.
    routerOptions: { maxParamLength: 128 * 4 * 3 },
    genReqId: ({ headers }) => correlationIdOf(headers),
    clientErrorHandler: (error, socket) => answerClientError(error, socket, meter, requestLog),
    frameworkErrors: (error, request, reply) => {
      // No hook has been called for it.
      watch(request, reply)
      void refuse(reply, request, problem('invalid', error.message), meter)
    },
  }
  // An HTTPS server is an HTTP server over other sockets, and for everything done here it has the same type.
  return fastify({ ...options, ...(tls === undefined ? { http: parser } : { https: { ...parser, handshakeTimeout: parser.headersTimeout, ...tls } }) })
}

interface Parts extends HttpServerOptions {
  readonly routes: ReadonlyArray<Route>
  readonly context: Context
  readonly state: { readonly isDraining: boolean }
  readonly waiting: Set<AbortController>
}

const addRoutes = (app: FastifyInstance, { routes, context, tokens, state, waiting, telemetry }: Parts): void => {
  const { meter } = context
  const admit = guard(tokens)
  const unread = new UnreadAnswers(context.limits)
  // A list of tasks may be longer than a small limit on each of them.
  readJsonBodies(app, Math.max(context.limits.taskBytesMax, 256 * 1024))
  app.decorateRequest('grant')
  app.decorateRequest('began', 0)

  const goneSignal = (reply: FastifyReply, grant: Grant): AbortSignal => {
    const controller = new AbortController()
    waiting.add(controller)
    const forget = grant.onEnd(() => controller.abort())
    // Also when the answer was sent; then nobody listens to the signal any more.
    whenClosed(reply, () => {
      waiting.delete(controller)
      forget()
      controller.abort()
    })
    if (state.isDraining || reply.raw.destroyed || grant.hasEnded()) controller.abort()
    return controller.signal
  }

  for (const route of routes) {
    const isOpen = route.who === 'anyone'
    app.route<{ Params: Record<string, string> }>({
      method: route.method,
      url: route.path.replace(/\{(\w+)\}/g, ':$1'),
      config: { read: route.body?.read },
      // Runs before the body is read: 4 MiB must not be parsed for a caller without a token.
      onRequest: (request, reply, done) => {
        request.began = performance.now()
        const admitted = admit(route.who, request.headers)
        if (E.isLeft(admitted)) return void refuse(reply, request, admitted.left, meter)
        request.actor = admitted.right.name
        if (state.isDraining && !isOpen) return void refuse(reply, request, stopping, meter)
        const { queue } = request.params
        const refusal = (queue === undefined ? undefined : refusalOfQueue(admitted.right, queue)) ?? refusalOfTenants(admitted.right, route.tenants)
        if (refusal !== undefined) return void refuse(reply, request, refusal, meter)
        request.grant = admitted.right
        done()
      },
      handler: async (request, reply) => {
        const { grant } = request
        // The token was revoked while the body arrived.
        if (grant.hasEnded()) return refuse(reply, request, ended, meter)
        let signal: AbortSignal | undefined
        const given = traceParentOf(textOf(request.headers.traceparent))
        const span = isOpen || probes.has(route.path) ? undefined : telemetry?.request({ method: route.method, route: route.path, queue: request.params.queue, correlationId: request.id, traceparent: given })
        if (span !== undefined) whenClosed(reply, () => span.end(reply.raw.headersSent ? reply.statusCode : undefined, !reply.raw.writableFinished))
        const sent = await serveRoute(context, route, {
          params: request.params,
          query: request.query,
          body: request.body,
          grant,
          correlationId: request.id,
          wantsLines: request.method === 'GET' && (request.headers.accept ?? '').includes('application/x-ndjson'),
          gone: () => (signal ??= goneSignal(reply, grant)),
          request: `${request.method} ${request.url}`,
          idempotencyKey: textOf(request.headers['idempotency-key']),
          requestId: textOf(request.headers['daybook-request-id']),
          bytes: bytesOf(request),
          traceparent: given ?? span?.traceparent,
        })
        const refuseSent = (why: Problem): FastifyReply => {
          // Nobody reads it, and it keeps what it is read from.
          if (typeof sent.text !== 'string') sent.text.destroy()
          return refuse(reply, request, why, meter)
        }
        // The token was revoked while the request waited. The caller no longer gets anything.
        if (grant.hasEnded() && (route.method === 'GET' || sent.undelivered !== undefined)) {
          sent.undelivered?.()
          return refuseSent(ended)
        }
        // Other methods have had their effect, so their answers are never refused.
        const tooMuch = typeof sent.text !== 'string' ? unread.addStream(reply) : route.method === 'GET' ? unread.addText(reply, sent.text) : undefined
        if (tooMuch !== undefined) return refuseSent(tooMuch)
        meter.answered(route.method, route.path, sent.status, tookMs(request))
        if (typeof sent.text !== 'string') {
          whenClosed(reply, grant.onEnd(() => reply.raw.destroy()))
          sent.text.once('error', (error) => reportBroken(reply, request, error))
        }
        if (sent.undelivered !== undefined) unlessDelivered(reply, sent.undelivered)
        return send(reply, request, sent, state.isDraining)
      },
    })
  }

  const allowed = methodsByPath(routes)
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] ?? ''
    const methods = allowed(path)
    if (methods === undefined) return refuse(reply, request, notAnUpgrade(path) ?? problem('not-found', `there is no route ${path}: see /api/openapi.json`), meter)
    void reply.header('allow', methods.join(', '))
    return refuse(reply, request, problem('method-not-allowed', `${request.method} is not possible here, only ${methods.join(', ')}`), meter)
  })
  app.setErrorHandler(async (error: FastifyError, request, reply) => {
    const what = problemOfError(error, context.limits)
    if (what.code === 'too-large') await dropRest(request.raw, context.limits.requestTimeoutMs / 4)
    if (what.status >= 500) request.log.error({ err: error, correlationId: request.id }, 'a request failed')
    return refuse(reply, request, what, meter)
  })
}

/** A stream that breaks off after its status was sent: only the log has the reason. Before, the error is answered. If the caller has left, nothing is wrong. */
const reportBroken = ({ raw }: FastifyReply, request: FastifyRequest, error: Error): void => {
  if (raw.headersSent && !raw.destroyed) request.log.error({ err: error, correlationId: request.id }, 'an answer broke off')
}

/** Calls `undelivered` if the connection ends before the answer was handed to the operating system. The server cannot see further. */
const unlessDelivered = ({ raw }: FastifyReply, undelivered: () => void): void => {
  const { socket } = raw
  if (raw.destroyed || socket === null) return undelivered()
  let isOut = false
  // `finish` also fires if the last write failed; the socket is destroyed then.
  raw.once('finish', () => (isOut = !socket.destroyed))
  raw.once('close', () => {
    if (!isOut) undelivered()
  })
}

const ended = problem('unauthorized', 'this token was revoked or has expired meanwhile: ask an admin for another one')
const stopping = problem('unavailable', 'the server is stopping: try again shortly', { retryAfterSeconds: soonSeconds })

const send = (
  reply: FastifyReply,
  request: FastifyRequest,
  { status, type, text, revision, retryAfterSeconds, code }: Sent,
  isLast: boolean,
): FastifyReply => {
  request.problemCode = code
  void reply.code(status)
  void reply.header('content-type', type)
  void reply.header('x-correlation-id', request.id)
  void reply.header('cache-control', 'no-store')
  void reply.headers(securityHeaders)
  if (revision !== undefined) void reply.header('x-daybook-revision', revision)
  if (retryAfterSeconds !== undefined) void reply.header('retry-after', retryAfterOf(retryAfterSeconds))
  if (status === 401) void reply.header('www-authenticate', 'Bearer')
  if (isLast) void reply.header('connection', 'close')
  // A Buffer is encoded once. For a string, Node first measures it, and then encodes it with room for three bytes per character.
  return reply.send(typeof text === 'string' && text.length > 4_096 ? Buffer.from(text) : text)
}

/** How long a request has taken; `undefined` for one that may wait for a task or a result. */
const tookMs = (request: FastifyRequest): number | undefined => (request.began === 0 || waitMsOf(request) > 0 ? undefined : performance.now() - request.began)

const refuse = (reply: FastifyReply, request: FastifyRequest, what: Refused, meter: Meter): FastifyReply => {
  request.actor ??= what.actor
  meter.answered(request.method === 'HEAD' ? 'GET' : request.method, routeOf(request), what.status, tookMs(request))
  return send(reply, request, renderProblem(what, request.id, meter), what === stopping)
}

/** Returns a function that gives the allowed methods of a path, for the answer to another method. */
const methodsByPath = (routes: ReadonlyArray<Route>): ((path: string) => ReadonlyArray<string> | undefined) => {
  const byPath = new Map<string, Set<string>>()
  for (const { path, method } of routes) {
    const methods = byPath.get(path) ?? new Set()
    byPath.set(path, methods.add(method))
    if (method === 'GET') methods.add('HEAD')
  }
  const patterns = [...byPath].map(([path, methods]) => ({
    pattern: new RegExp(`^${path.replace(/[.]/g, '\\.').replace(/\{\w+\}/g, '[^/]+')}$`),
    methods: [...methods],
  }))
  return (path) => {
    const matching = patterns.filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => methods)
    return matching.length === 0 ? undefined : [...new Set(matching)].sort()
  }
}
