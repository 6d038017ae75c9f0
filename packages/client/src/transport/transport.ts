/** Sends one HTTP request and returns the text of the answer. Retries and JSON are handled by the layers above. */
import { Client, type Dispatcher, errors, Pool } from 'undici'
import { abortedError, closedError, joined, onAbort } from './abort.js'
import { DaybookError } from '../errors.js'
import { headerText } from './header-text.js'

export interface TransportOptions {
  readonly url: string
  readonly token: string | undefined
  readonly userAgent: string
  readonly connectionsMax: number
  readonly waitingClaimsMax: number
  readonly timeoutMs: number
  readonly answerBytesMax: number
}

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** The path below the base URL, with its query. */
  readonly path: string
  readonly body?: string
  readonly signal?: AbortSignal | undefined
  readonly idempotencyKey?: string | undefined
  /** Stays the same each time the request is sent. The ids of its tasks are made from it. */
  readonly requestId?: string | undefined
  readonly correlationId?: string | undefined
  readonly accept?: string
  /** The span that the request belongs to. */
  readonly traceparent?: string | undefined
  /** Added to the time-out, in milliseconds: the server may take this long to answer a long poll. */
  readonly waitMs?: number
  readonly timeoutMs?: number | undefined
}

export interface HttpAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

/** An answer that is read as it arrives. */
export interface HttpStream {
  readonly statusCode: number
  readonly headers: HttpAnswer['headers']
  readonly body: AsyncIterable<Buffer> & { readonly text: () => Promise<string> }
}

export interface Transport {
  readonly request: (request: HttpRequest) => Promise<HttpAnswer>
  readonly stream: (request: HttpRequest) => Promise<HttpStream>
  /** Cancels waiting claims and streams, and accepts no more of them. */
  readonly stopWaiting: () => void
  /** Waits for running calls, and disconnects. */
  readonly close: () => Promise<void>
}

/** Codes of failures at connecting: no byte of the request was sent. */
const unsentCodes: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
])

/** Codes of failures of requests that were sent, and not answered in time. */
const lateCodes: ReadonlySet<string> = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'])

const codeOf = (error: Error): string => {
  const code: unknown = (error as { code?: unknown }).code
  if (typeof code === 'string') return code
  // Several addresses were tried (localhost as IPv6 and IPv4), and all failed in the same way.
  return error instanceof AggregateError && error.errors[0] instanceof Error ? codeOf(error.errors[0]) : ''
}

/** Why a request was not answered. */
const failureOf = (origin: string, error: Error): DaybookError => {
  if (error instanceof errors.InvalidArgumentError) return new DaybookError('invalid', `the request cannot be sent: ${error.message}`, { unsent: true, cause: error })
  const code = codeOf(error)
  const what = lateCodes.has(code) ? 'it has the request, and did not answer in time' : error.message || 'failed'
  const why = code === '' ? error.message : `${what} (${code})`
  return new DaybookError('unreachable', `no answer from ${origin}: ${why}`, { unsent: unsentCodes.has(code), cause: error })
}

export const createTransport = (options: TransportOptions): Transport => {
  const base = new URL(options.url)
  const prefix = base.pathname.replace(/\/+$/, '')
  const poolOf = (connections: number, answerBytesMax = options.answerBytesMax): Pool =>
    new Pool(base.origin, {
      connections,
      factory: (origin, client) => new Connection(origin, client),
      // One request per connection at a time. A bulk request fills it anyway, and no request waits for a slow one.
      pipelining: 1,
      keepAliveTimeout: 30_000,
      keepAliveMaxTimeout: 600_000,
      connect: { timeout: Math.min(10_000, options.timeoutMs) },
      maxResponseSize: answerBytesMax,
    })
  const calls = poolOf(options.connectionsMax)
  // Each long poll occupies a connection. So they have their own pool and do not delay other calls.
  const polls = poolOf(options.waitingClaimsMax)
  // A stream is read as it arrives, and may be as long as a log.
  const streams = poolOf(options.connectionsMax, -1)
  const closing = new AbortController()

  const fixed = ['accept', 'application/json', 'user-agent', options.userAgent]
  if (options.token !== undefined) fixed.push('authorization', `Bearer ${options.token}`)
  const withBody = [...fixed, 'content-type', 'application/json']

  const headersOf = ({ body, idempotencyKey, requestId, correlationId, accept, traceparent }: HttpRequest): string[] => {
    const usual = body === undefined ? fixed : withBody
    if ((idempotencyKey ?? requestId ?? correlationId ?? accept ?? traceparent) === undefined) return usual
    const headers = [...usual]
    if (accept !== undefined) headers[1] = accept
    if (idempotencyKey !== undefined) headers.push('idempotency-key', headerText('idempotencyKey', idempotencyKey))
    if (requestId !== undefined) headers.push('daybook-request-id', requestId)
    if (correlationId !== undefined) headers.push('x-correlation-id', headerText('correlationId', correlationId))
    if (traceparent !== undefined) headers.push('traceparent', traceparent)
    return headers
  }

  const optionsOf = (request: HttpRequest): Dispatcher.DispatchOptions => {
    const timeoutMs = (request.timeoutMs ?? options.timeoutMs) + (request.waitMs ?? 0)
    return {
      method: request.method,
      path: prefix + request.path,
      headers: headersOf(request),
      body: request.body ?? null,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    }
  }
  const poolFor = (request: HttpRequest): Pool => (request.waitMs === undefined || request.waitMs === 0 ? calls : polls)

  const request = (asked: HttpRequest): Promise<HttpAnswer> =>
    new Promise((resolve, reject) => {
      const { signal } = asked
      const pool = poolFor(asked)
      if (closing.signal.aborted && pool === polls) return reject(closedError())
      if (signal?.aborted === true) return reject(abortedError(signal))
      pool.dispatch(optionsOf(asked), new Collector(resolve, reject, base.origin, signal, pool === polls ? closing.signal : undefined))
    })

  const stream = async (asked: HttpRequest): Promise<HttpStream> => {
    if (closing.signal.aborted) throw closedError()
    const sent = optionsOf(asked)
    const { signal, forget } = joined(asked.signal, closing.signal)
    try {
      const answer = await streams.request({ ...sent, signal })
      answer.body.once('close', forget)
      return answer
    } catch (error) {
      forget()
      if (asked.signal?.aborted === true) throw abortedError(asked.signal)
      throw closing.signal.aborted ? closedError() : failureOf(base.origin, error as Error)
    }
  }

  const close = async (): Promise<void> => {
    closing.abort()
    await Promise.all([calls.close(), polls.destroy(), streams.destroy()])
  }
  return { request, stream, stopWaiting: () => closing.abort(), close }
}

/**
 * One connection of a pool. If undici's cannot build a request, its `dispatch` returns false, as it does when it is busy. The pool would then wait for
 * ever for the connection, and so would `close`.
 */
class Connection extends Client {
  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    return super.dispatch(options, handler) || this.stats.size === 0
  }
}

/** Collects one answer. undici's own `request` would build a stream and two more promises for each. */
class Collector implements Dispatcher.DispatchHandler {
  private status = 0
  private headers: HttpAnswer['headers'] = {}
  private chunks: Array<Buffer> = []
  private controller: Dispatcher.DispatchController | undefined
  private stop: DaybookError | undefined

  private readonly forgetSignal: (() => void) | undefined
  private readonly forgetClosing: (() => void) | undefined

  constructor(
    private readonly resolve: (answer: HttpAnswer) => void,
    private readonly reject: (error: DaybookError) => void,
    private readonly origin: string,
    private readonly signal: AbortSignal | undefined,
    closing: AbortSignal | undefined,
  ) {
    this.forgetSignal = signal === undefined ? undefined : onAbort(signal, this.abort)
    this.forgetClosing = closing === undefined ? undefined : onAbort(closing, this.abort)
  }

  private readonly abort = (): void => {
    this.stop = this.signal?.aborted === true ? abortedError(this.signal) : closedError()
    // Without a controller the request is not connected yet; `onRequestStart` will then abort it.
    this.controller?.abort(this.stop)
    this.forget()
    this.reject(this.stop)
  }

  private forget(): void {
    this.forgetSignal?.()
    this.forgetClosing?.()
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.stop !== undefined) controller.abort(this.stop)
    else this.controller = controller
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: HttpAnswer['headers']): void {
    if (status < 200) return
    this.status = status
    this.headers = headers
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.chunks.push(chunk)
  }

  onResponseEnd(): void {
    this.forget()
    const [first] = this.chunks
    const text = this.chunks.length === 1 && first !== undefined ? first.toString() : Buffer.concat(this.chunks).toString()
    this.resolve({ status: this.status, headers: this.headers, text })
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.forget()
    if (error instanceof DaybookError) return this.reject(error)
    if (error instanceof errors.ClientDestroyedError || error instanceof errors.ClientClosedError) return this.reject(closedError())
    if (error instanceof errors.ResponseExceededMaxSizeError) {
      return this.reject(new DaybookError('unexpected-answer', 'the answer is larger than answerBytesMax; ask for less', { cause: error }))
    }
    this.reject(failureOf(this.origin, error))
  }
}
