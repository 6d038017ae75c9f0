/** One JSON request with its retries. Every method of the client uses it. */
import { asDaybookError } from './gather.js'
import { DaybookError, errorOfAnswer } from '../errors.js'
import type { CallOptions, Configured } from '../options.js'
import { type RetryPolicy, retrying } from './retry.js'
import { activeTraceParent } from './tracing.js'
import type { HttpRequest, Transport } from './transport.js'

export interface Calls {
  readonly json: <T>(request: HttpRequest, policy: RetryPolicy, options?: CallOptions) => Promise<T>
  /** Returns the answer as text. */
  readonly text: (request: HttpRequest, policy: RetryPolicy, options?: CallOptions) => Promise<string>
  /** One try without retries. */
  readonly once: <T>(request: HttpRequest) => Promise<T>
  readonly stream: Transport['stream']
}

export const createCalls = ({ retryForMs }: Configured, transport: Transport): Calls => {
  const answered = async (request: HttpRequest): Promise<{ readonly status: number; readonly text: string }> => {
    const { status, headers, text } = await transport.request(request)
    if (status >= 200 && status <= 299) return { status, text }
    const retryAfter = headers['retry-after']
    throw errorOfAnswer(status, text, typeof retryAfter === 'string' ? retryAfter : undefined)
  }

  const once = async <T>(request: HttpRequest): Promise<T> => {
    const { status, text } = await answered(request)
    if (text === '') return null as T
    try {
      return JSON.parse(text) as T
    } catch (error) {
      throw new DaybookError('unexpected-answer', `the answer is no JSON: ${(error as Error).message}`, { status, cause: error })
    }
  }

  const tried = async <T>(send: (request: HttpRequest) => Promise<T>, request: HttpRequest, policy: RetryPolicy, options: CallOptions = {}): Promise<T> => {
    const { signal, timeoutMs, idempotencyKey, correlationId } = options
    const full: HttpRequest = { ...request, signal: signal ?? request.signal, timeoutMs, idempotencyKey: idempotencyKey ?? request.idempotencyKey, correlationId, traceparent: activeTraceParent() }
    const deadline = performance.now() + (options.retryForMs ?? retryForMs)
    try {
      return await retrying(() => send(full), idempotencyKey === undefined ? policy : 'safe', deadline, full.signal)
    } catch (error) {
      throw asDaybookError(error)
    }
  }

  const json = <T>(request: HttpRequest, policy: RetryPolicy, options?: CallOptions): Promise<T> => tried((full) => once<T>(full), request, policy, options)
  const text = (request: HttpRequest, policy: RetryPolicy, options?: CallOptions): Promise<string> => tried(async (full) => (await answered(full)).text, request, policy, options)
  return { json, text, once, stream: transport.stream }
}

/** A query string such as `?a=1&b=x`. Members that are `undefined` are left out; lists are joined by commas. */
export const query = (parameters: object): string => {
  const parts: Array<string> = []
  for (const [key, value] of Object.entries(parameters) as Array<[string, unknown]>) {
    if (value === undefined || value === null) continue
    const text = Array.isArray(value) ? value.join(',') : String(value)
    parts.push(`${encodeURIComponent(key)}=${encodeURIComponent(text)}`)
  }
  return parts.length === 0 ? '' : `?${parts.join('&')}`
}
