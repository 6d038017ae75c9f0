/** The log of requests: a line for each that is answered, or for some of them (docs/reference/log.md). */
import type { FastifyBaseLogger } from 'fastify'
import type { ProblemCode } from '../problem.js'
import { LineBudget } from './line-budget.js'

/**
 * Which requests get a line. `errors`: those that were refused, failed, were slow, or whose caller went away. `sampled`: the others as well. Both keep to
 * the {@link LineBudget}. `all`: every request, however many.
 */
export const requestLogChoices = ['off', 'errors', 'sampled', 'all'] as const
export type RequestLogChoice = (typeof requestLogChoices)[number]

/** A request that has ended. It names nothing that a caller chose freely but the correlation id: no path, no query, no header, no body. */
export interface EndedRequest {
  readonly method: string
  /** The path with its `{names}`, not their values. */
  readonly route: string
  /** Of the answer; `undefined` if the caller went away before there was one. */
  readonly status: number | undefined
  /** Whether the caller went away before it had the whole answer. */
  readonly gone: boolean
  /** From the request's headers to the end of its answer, in milliseconds. */
  readonly ms: number
  /** How much of that the caller had asked to wait, at most. */
  readonly waitMs: number
  readonly correlationId: string
  /** Of the problem that it was answered with. */
  readonly code?: ProblemCode | undefined
  readonly queue?: string | undefined
  /** The name of the token. */
  readonly actor?: string | undefined
  readonly remote?: string | undefined
  /** Of the caller's `traceparent`. */
  readonly traceId?: string | undefined
}

/** The route of what is none of the table: a path that a stranger tries is not written down. */
export const noRoute = '(none)'

/** What a line may have, beside what every line of the log has. */
export const requestFields = ['method', 'route', 'status', 'ms', 'correlationId', 'code', 'queue', 'actor', 'remote', 'traceId', 'slow', 'gone', 'leftOut'] as const
type Line = { readonly [F in (typeof requestFields)[number]]?: unknown }

/** From so many milliseconds on a request is slow, without the time that it asked to wait. */
const slowMs = 1_000

/** They come every few seconds and say nothing: they have no spans, and only `all` has a line for each that went well. */
export const probes: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics'])

export class RequestLog {
  private readonly budget = new LineBudget()
  private timer: NodeJS.Timeout | undefined

  /** `now`: milliseconds since 1970. */
  constructor(
    private readonly logger: Pick<FastifyBaseLogger, 'info' | 'warn' | 'error'>,
    private readonly choice: Exclude<RequestLogChoice, 'off'>,
    private readonly now: () => number = Date.now,
  ) {}

  note(request: EndedRequest): void {
    const { method, route, status, gone, ms, waitMs, ...rest } = request
    const isSlow = ms - waitMs >= slowMs
    const isFine = status !== undefined && status < 400 && !gone && !isSlow
    if (isFine && (this.choice === 'errors' || (this.choice === 'sampled' && probes.has(route)))) return
    const leftOut = this.choice === 'all' ? 0 : this.budget.take(`${method} ${route} ${status ?? ''}`, this.now())
    if (this.choice !== 'all') this.settleLater()
    if (leftOut === undefined) return
    const line: Line = { method, route, status, ms: Math.round(ms * 10) / 10, ...rest, ...(isSlow ? { slow: true } : {}), ...(gone ? { gone } : {}), ...(leftOut > 0 ? { leftOut } : {}) }
    if (status !== undefined && status >= 500) this.logger.error(line, 'request')
    else if (isFine) this.logger.info(line, 'request')
    else this.logger.warn(line, 'request')
  }

  /** Tells what was left out and not told yet. */
  close(): void {
    clearTimeout(this.timer)
    this.settle(Number.POSITIVE_INFINITY)
  }

  private settleLater(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined
      this.settle(this.now())
      if (!this.budget.isEmpty) this.settleLater()
    }, 1_000).unref()
  }

  private settle(now: number): void {
    for (const [kind, leftOut] of this.budget.settle(now)) {
      const [method, route, status] = kind.split(' ')
      const line: Line = { method, route, status: status === '' ? undefined : Number(status), leftOut }
      if (status === '' || Number(status) >= 400) this.logger.warn(line, 'requests left out')
      else this.logger.info(line, 'requests left out')
    }
  }
}
