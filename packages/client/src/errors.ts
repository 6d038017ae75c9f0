/** Every failure of the client is a {@link DaybookError}; its `code` says what to do about it. */
import type { FieldError } from '@daybook/core'

/**
 * The codes of the server's problems, and five codes of the client: `unreachable` (no answer, or an incomplete one), `aborted` (by the caller's own
 * signal), `closed` (the client was closed), `unexpected-answer` (something answered, but not a Daybook server), and `not-completed` (a task that was
 * waited for has no result).
 */
export type ErrorCode =
  | 'invalid'
  | 'unauthorized'
  | 'forbidden'
  | 'not-found'
  | 'conflict'
  | 'lease-lost'
  | 'wrong-state'
  | 'unknown-dependency'
  | 'dependency-cycle'
  | 'too-large'
  | 'overloaded'
  | 'capacity-exceeded'
  | 'disabled'
  | 'unavailable'
  | 'outcome-unknown'
  | 'read-only'
  | 'clock'
  | 'timeout'
  | 'method-not-allowed'
  | 'unsupported-media-type'
  | 'too-many-requests'
  | 'headers-too-large'
  | 'internal'
  | 'unreachable'
  | 'aborted'
  | 'closed'
  | 'unexpected-answer'
  | 'not-completed'

export interface ErrorDetails {
  readonly status?: number | undefined
  readonly errors?: ReadonlyArray<FieldError> | undefined
  readonly retryAfterSeconds?: number | undefined
  /** True if the request was not sent, so that it certainly had no effect. */
  readonly unsent?: boolean
  readonly cause?: unknown
}

/**
 * A request was refused or got no answer.
 *
 * *Gotchas*: after `outcome-unknown` the request may have taken effect. The same holds after `unreachable`, unless `unsent`.
 */
export class DaybookError extends Error {
  override readonly name: string = 'DaybookError'
  /** What happened and what to do about it; the same text as `message`. */
  readonly detail: string
  /** HTTP status; 0 if there was no answer. */
  readonly status: number
  /** The fields that are wrong, if the code is `invalid`. */
  readonly errors: ReadonlyArray<FieldError> | undefined
  /** The delay before a retry that the server asks for. */
  readonly retryAfterSeconds: number | undefined
  readonly unsent: boolean

  constructor(
    /** Stable. One of {@link ErrorCode}, or a code that is newer than this client. */
    readonly code: ErrorCode | (string & {}),
    detail: string,
    { status = 0, errors, retryAfterSeconds, unsent = false, cause }: ErrorDetails = {},
  ) {
    super(detail, cause === undefined ? undefined : { cause })
    this.detail = detail
    this.status = status
    this.errors = errors
    this.retryAfterSeconds = retryAfterSeconds
    this.unsent = unsent
  }
}

/** A problem (RFC 9457), in a bulk answer or alone as `application/problem+json`. */
export interface Problem {
  readonly status: number
  readonly code: string
  readonly detail?: string
  readonly title?: string
  readonly errors?: ReadonlyArray<FieldError>
  readonly retryAfterSeconds?: number
}

export const isProblem = (value: unknown): value is Problem =>
  typeof value === 'object' &&
  value !== null &&
  typeof (value as Partial<Problem>).code === 'string' &&
  typeof (value as Partial<Problem>).status === 'number'

export const errorOf = (problem: Problem, retryAfterSeconds?: number): DaybookError =>
  new DaybookError(problem.code, problem.detail ?? problem.title ?? problem.code, {
    status: problem.status,
    errors: problem.errors,
    retryAfterSeconds: problem.retryAfterSeconds ?? retryAfterSeconds,
  })

/** The error of an answer that is not 2xx. An answer by a proxy counts as no answer. */
export const errorOfAnswer = (status: number, text: string, retryAfter: string | undefined): DaybookError => {
  const retryAfterSeconds = secondsOf(retryAfter)
  const problem = parse(text)
  if (isProblem(problem)) return errorOf(problem, retryAfterSeconds)
  const said = text.length > 200 ? `${text.slice(0, 200)}…` : text
  if (status === 502 || status === 503 || status === 504) {
    return new DaybookError('unreachable', `no answer from the server behind ${status}: ${said}`, {
      status,
      retryAfterSeconds,
    })
  }
  if (status === 429) return new DaybookError('too-many-requests', `what stands before the server lets less through: ${said}`, { status, retryAfterSeconds })
  return new DaybookError(
    'unexpected-answer',
    `status ${status} without a problem document; is this a Daybook server? It said: ${said}`,
    { status, retryAfterSeconds },
  )
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Reads `Retry-After`, which is a number of seconds or an HTTP date. */
const secondsOf = (header: string | undefined): number | undefined => {
  if (header === undefined || header.trim() === '') return undefined
  const seconds = Number(header)
  if (Number.isFinite(seconds)) return Math.max(0, seconds)
  const date = Date.parse(header)
  return Number.isNaN(date) ? undefined : Math.max(0, (date - Date.now()) / 1_000)
}
