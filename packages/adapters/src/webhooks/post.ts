/** One try to send a message. */
import { joined } from '@daybook/client/common'
import { Agent, request } from 'undici'
import { publicConnector, type Resolve, ForbiddenAddress } from './public-connector.js'
import { signatureOf } from './signature.js'
import type { WebhookMessage } from './message.js'

export interface Endpoint {
  readonly url: string
  /** A signature is made with each of them, so that a secret can be exchanged. */
  readonly secrets: ReadonlyArray<Buffer>
  readonly allowPrivateAddresses: boolean
  /** The time limit of one try, from resolving the name to the answer. */
  readonly timeoutMs: number
}

export type Outcome =
  | { readonly kind: 'delivered'; readonly status: number }
  /** 410: the receiver wants no more messages. */
  | { readonly kind: 'gone' }
  /** The receiver refuses this message, and would refuse it again. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** The receiver accepts no message now. */
  | { readonly kind: 'failed'; readonly reason: string; readonly retryAfterMs?: number }

export interface Poster {
  /** Never rejects. */
  readonly post: (message: Pick<WebhookMessage, 'id' | 'body'>, signal?: AbortSignal) => Promise<Outcome>
  readonly close: () => Promise<void>
}

/** The longest pause that a receiver may ask for. */
const retryAfterMsMax = 3_600_000
/** Number of bytes of an answer that are read, so that the connection can be used again. */
const answerBytesMax = 16_384
/** Why a try was ended. */
const late = new Error('late')
/** How long is waited for the rest of an answer, for the same reason. The next message waits meanwhile. */
const answerRestMs = 1_000
/** Answers that are about this message. After any other refusal, the next message would be refused as well. */
const refusals = new Set([400, 405, 406, 411, 413, 414, 415, 422, 431])

export const openPoster = ({ url, secrets, allowPrivateAddresses, timeoutMs }: Endpoint, resolve?: Resolve, now: () => number = Date.now): Poster => {
  const dispatcher = new Agent({
    connections: 1,
    connect: allowPrivateAddresses ? { timeout: timeoutMs } : publicConnector(timeoutMs, resolve),
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  })
  const post: Poster['post'] = async ({ id, body }, given) => {
    const { signal, abort, forget } = joined(given)
    let clock = setTimeout(() => abort(late), timeoutMs)
    const end = (): void => {
      clearTimeout(clock)
      forget()
    }
    const timestamp = Math.floor(now() / 1_000)
    try {
      // undici does not follow redirects.
      const { statusCode, headers, body: answer } = await request(url, {
        dispatcher,
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'user-agent': 'daybook',
          'webhook-id': id,
          'webhook-timestamp': String(timestamp),
          'webhook-signature': signatureOf(secrets, id, timestamp, body),
        },
        body,
        signal,
      })
      clearTimeout(clock)
      clock = setTimeout(abort, answerRestMs)
      answer.dump({ limit: answerBytesMax }).catch(() => undefined).finally(end)
      if (statusCode >= 200 && statusCode < 300) return { kind: 'delivered', status: statusCode }
      if (statusCode === 410) return { kind: 'gone' }
      const reason = `it answers ${statusCode}${statusCode >= 300 && statusCode < 400 ? ', and redirects are not followed' : ''}`
      if (refusals.has(statusCode)) return { kind: 'refused', reason }
      return { kind: 'failed', reason, retryAfterMs: readRetryAfter(headers['retry-after'], now()) }
    } catch (error) {
      end()
      return { kind: 'failed', reason: signal.reason === late ? `no answer within ${timeoutMs / 1_000} s` : reasonOf(error) }
    }
  }
  return { post, close: () => dispatcher.destroy() }
}

/**
 * The pause that a receiver asks for, in milliseconds. It is given in seconds or as a date. A value that is not understood is 0, and no pause is
 * longer than an hour.
 */
export const readRetryAfter = (value: string | ReadonlyArray<string> | undefined, now: number): number => {
  const text = typeof value === 'string' ? value.trim() : ''
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : /^[A-Z][a-z]{2}, .{1,30} GMT$/.test(text) ? Date.parse(text) - now : 0
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), retryAfterMsMax) : 0
}

/** The words do not contain the address, whose path may be a secret. */
const reasonOf = (error: unknown): string => {
  for (let each: unknown = error; each instanceof Error; each = each.cause) {
    if (each instanceof ForbiddenAddress) return each.message
    const { code } = each as NodeJS.ErrnoException
    if (code !== undefined && each.cause === undefined) return `it cannot be reached (${code})`
  }
  return 'it cannot be reached'
}
