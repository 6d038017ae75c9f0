/** Problem details (RFC 9457). `code` is stable, for programs; `detail` is for people. */
import { type FieldError, invalid as invalidFields } from '@daybook/core'
import type { Refusal } from '../engine/types.js'

const kinds = {
  invalid: [400, 'The request is invalid'],
  unauthorized: [401, 'A valid token is required'],
  forbidden: [403, 'This is not allowed'],
  'not-found': [404, 'Not found'],
  'method-not-allowed': [405, 'Method not allowed'],
  timeout: [408, 'The request did not arrive in time'],
  conflict: [409, 'Conflict with existing data'],
  'lease-lost': [409, 'The lease is lost'],
  'wrong-state': [409, 'Not possible in this state'],
  disabled: [409, 'A setting of the queue forbids this'],
  'capacity-exceeded': [409, 'No more agents may start'],
  'too-large': [413, 'Too large'],
  'unsupported-media-type': [415, 'Only JSON is accepted'],
  'unknown-dependency': [422, 'A dependency is unknown'],
  'dependency-cycle': [422, 'The dependencies form a cycle'],
  'too-many-requests': [429, 'Too many requests'],
  'headers-too-large': [431, 'The headers are too large'],
  internal: [500, 'Something went wrong in the server'],
  overloaded: [503, 'The server is overloaded'],
  'read-only': [503, 'This queue is read-only on this server'],
  clock: [503, "The server's clock is refused"],
  unavailable: [503, 'Not available now'],
  'outcome-unknown': [503, 'It is unknown whether this was done'],
} as const satisfies Record<string, readonly [status: number, title: string]>

export type ProblemCode = keyof typeof kinds
export const problemCodes = Object.keys(kinds) as ReadonlyArray<ProblemCode>
/** The status of a code's answers. One exception: a `conflict` about an `Idempotency-Key` may be a 422. */
export const statusOf = (code: ProblemCode): number => kinds[code][0]
export const titleOf = (code: ProblemCode): string => kinds[code][1]

export interface Problem {
  readonly status: number
  readonly code: ProblemCode
  readonly detail: string
  readonly errors?: ReadonlyArray<FieldError>
  readonly retryAfterSeconds?: number
  /** Extension members of this problem. */
  readonly more?: Readonly<Record<string, unknown>>
}

/** After how many seconds to try again if the reason is short, as at a start or a stop. The header `Retry-After` has only whole seconds, and says 1. */
export const soonSeconds = 0.1

/** What the header `Retry-After` says: whole seconds, and at least one. */
export const retryAfterOf = (seconds: number): number => Math.max(1, Math.ceil(seconds))

type Details = Partial<Omit<Problem, 'code' | 'detail'>>

export const problem = (code: ProblemCode, detail: string, details: Details = {}): Problem => ({
  status: kinds[code][0],
  code,
  detail,
  ...details,
})

export const noSuchQueue = (name: string): Problem =>
  problem('not-found', `no queue ${name}: a queue is created by its first task or its first setting`)

/** In the words of the core's refusals. */
export const noSuchTask = (queue: { readonly name: string }, id: string): Problem =>
  problem('not-found', `no task ${id} in queue ${queue.name}: it was never enqueued here, or it finished and its retention is over`)

export const invalid = (errors: ReadonlyArray<FieldError>): Problem => problemOf(invalidFields(errors))

export const problemOf = (refusal: Refusal): Problem =>
  'retryAfterSeconds' in refusal
    ? problem(refusal.code, refusal.detail, { retryAfterSeconds: refusal.retryAfterSeconds })
    : problem(refusal.code, refusal.detail, refusal.errors === undefined ? {} : { errors: refusal.errors })

/** As an answer by itself (with a correlation id), or as one result of several. */
export const problemText = ({ status, code, detail, errors, retryAfterSeconds, more }: Problem, correlationId?: string): string =>
  JSON.stringify({
    type: `urn:daybook:problem:${code}`,
    title: kinds[code][1],
    status,
    code,
    detail,
    errors,
    retryAfterSeconds,
    ...more,
    correlationId,
  })
