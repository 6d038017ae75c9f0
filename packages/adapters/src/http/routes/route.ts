/** The declaration of a route. Serving, documents and tests use this one declaration. */
import type { Readable } from 'node:stream'
import { type FieldError, type QueueState, validate } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import type * as t from 'io-ts'
import type { Grant } from '../../auth/index.js'
import type { Answer, Daybook, Caller, Outcome, QueueEngine, QueueView } from '../../engine/index.js'
import type { OnEvent } from '../../past/index.js'
import type { ForTenants, Who } from './access.js'
import type { HttpLimits } from '../limits.js'
import type { Meter } from '../metrics/meter.js'
import type { Tag } from '../openapi/tags.js'
import { type Problem, type ProblemCode, problemOf } from '../problem.js'
import type { Moment, Span } from '../query.js'
import type { Tenants } from './tenants.js'

export interface Reply {
  readonly status: number
  /** The complete body: JSON, or the media type of `type`. */
  readonly text: string | Readable
  /** Default: JSON. */
  readonly type?: string
  /** The queue's revision that this answer includes. */
  readonly revision?: number
  /** Called if the connection ends before the answer is sent. */
  readonly undelivered?: (() => void) | undefined
  /** The answer contains a secret, and is not kept for its idempotency key. */
  readonly isSecret?: true
  /** It is of use only to a caller that is still there, as that of a claim. If the caller has left, it is not kept for its idempotency key. */
  readonly needsCaller?: true
}

/** A refusal may also have the queue's revision. */
export type Handled = E.Either<Problem & { readonly revision?: number }, Reply>

export interface Call<Body = unknown, Query = unknown> {
  readonly daybook: Daybook
  readonly limits: HttpLimits
  readonly meter: Meter
  /** Decoded values of the path's `{names}`. */
  readonly params: Readonly<Record<string, string>>
  readonly query: Query
  readonly body: Body
  readonly caller: Caller
  /** What the caller may do. */
  readonly grant: Grant
  /** The only tenants that the call may be about; `undefined` for all. */
  readonly tenants: Tenants
  /** The caller accepts NDJSON. */
  readonly wantsLines: boolean
  /** Stays the same when a request is sent again: see `taskIdsOf`. */
  readonly requestId: string | undefined
  /** The caller's span, as a valid `traceparent`. New tasks without one get it. */
  readonly traceparent: string | undefined
  /** A signal that aborts when the connection closes or the server stops. Created at the first call. */
  readonly gone: () => AbortSignal
}

export interface QueueCall<Body = unknown, Query = unknown> extends Call<Body, Query> {
  readonly queue: QueueEngine
}

/** A query about a queue. Its handler may use only these members, so that it answers for a past moment as it did then. */
export interface ViewCall<Query = unknown> extends Pick<Call<undefined, Query>, 'params' | 'query' | 'limits' | 'tenants' | 'wantsLines' | 'gone'> {
  readonly queue: QueueView
}

/** The check of a body or a query, and its schema. */
export interface Input<A> {
  readonly schema: t.Mixed
  readonly check: (input: unknown) => E.Either<ReadonlyArray<FieldError>, A>
  /** An absent body counts as `{}`. */
  readonly mayBeAbsent: boolean
  /** A faster reader than the parser for a body in UTF-8. Returns `undefined` for a body that it cannot read. */
  readonly read?: ReadBody
}

export type ReadBody = (bytes: Buffer) => unknown

export const input = <A>(codec: t.Type<A, unknown>, { mayBeAbsent = false, root = '' } = {}): Input<A> => ({
  schema: codec,
  check: validate(codec, root),
  mayBeAbsent,
})

/** Those of the query. */
export const parameters = <A>(codec: t.Type<A, unknown>): Input<A> => input(codec, { root: 'query' })

interface Declared<Body, Query> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** In OpenAPI's form: `/api/queues/{queue}/tasks`. */
  readonly path: string
  readonly who: Who
  readonly tenants: ForTenants
  readonly tag: Tag
  /** One short sentence. */
  readonly summary: string
  /** Everything else that there is to know. */
  readonly description?: string
  /** The problems that only routes like this one answer with. Others follow from its kind: see `openapi/problems.ts`. */
  readonly refusals?: ReadonlyArray<ProblemCode>
  readonly query?: Input<Query>
  readonly body?: Input<Body>
  /** Successful answers by status: the schema, or the media type if it is not JSON. */
  readonly answers: Readonly<Record<number, t.Mixed | string>>
  /** Further media types of the answer 200. */
  readonly also?: ReadonlyArray<string>
  /** Its answers have no revision of the queue, because they do not come from the queue. */
  readonly revision?: 'none'
  /** Streams NDJSON to callers that accept `application/x-ndjson`. */
  readonly lines?: true
}

export interface PlainRoute<Body = unknown, Query = unknown> extends Declared<Body, Query> {
  readonly of: 'server'
  /** A route that shows all queues refuses a token that is limited to some. A route that shows its own queues leaves out all others. */
  readonly shows: 'all queues' | 'own queues' | 'no queue'
  readonly handle: (call: Call<Body, Query>) => Promise<Handled>
}

export interface QueueRoute<Body = unknown, Query = unknown> extends Declared<Body, Query> {
  readonly of: 'queue'
  /**
   * What this route does with a queue that was never used, or not since its deletion. It refuses the queue as not found, answers as for an empty
   * queue, or opens the queue, so that its first event creates it.
   */
  readonly unused: 'refused' | 'empty' | 'opened'
  readonly handle: (call: QueueCall<Body, Query>) => Promise<Handled>
}

/** A `GET` about a queue, at present or at a past moment: its query has `revision` and `at`. */
export interface ViewRoute<Query = unknown> extends Declared<undefined, Query> {
  readonly of: 'view'
  readonly unused: 'refused' | 'empty'
  readonly handle: (call: ViewCall<Query>) => Promise<Handled>
}

/** A moment whose revision is known. `at`: the requested time, in milliseconds since 1970; by default that of the last event. */
export interface KnownMoment {
  readonly revision: number
  readonly at?: number
}

/** A query about two moments of a queue, and about the events between them. */
export interface SpanCall<Query = unknown> extends Pick<Call<undefined, Query>, 'query' | 'limits'> {
  readonly span: { readonly from: KnownMoment; readonly to: KnownMoment }
  readonly queue: Pick<QueueView, 'name' | 'contents'> & {
    /** Walks from the first moment to the second, event by event. */
    readonly walk: <A>(steps: {
      readonly begin: (state: QueueState, at: number) => void
      readonly event: OnEvent
      readonly end: (state: QueueState, at: number) => A
    }) => Promise<A>
  }
}

/** A `GET` about two moments: `from` and `to` of its query are a revision or a time each. */
export interface SpanRoute<Query = unknown> extends Declared<undefined, Query> {
  readonly of: 'span'
  readonly handle: (call: SpanCall<Query>) => Promise<Handled>
}

export type Route = PlainRoute | QueueRoute | ViewRoute | SpanRoute

/**
 * A route of the server. The handler knows the types of body and query. The table of all routes does not need them, because `check` runs before the
 * handler.
 */
export const serverRoute = <Body, Query>(route: Omit<PlainRoute<Body, Query>, 'of'>): Route =>
  ({ of: 'server', ...route }) as PlainRoute<Body, Query> as Route

/** A route of one queue. */
export const queueRoute = <Body, Query>(
  route: Omit<QueueRoute<Body, Query>, 'of' | 'unused'> & Partial<Pick<QueueRoute, 'unused'>>,
): Route => ({ of: 'queue', unused: 'refused', ...route }) as QueueRoute<Body, Query> as Route

/** A query about one queue. Default: refused for a queue that was never used. */
export const viewRoute = <Query>(
  route: Omit<ViewRoute<Query & Moment>, 'of' | 'method' | 'unused' | 'handle' | 'query'> &
    Partial<Pick<ViewRoute, 'unused'>> & {
      readonly query: Input<Query & Moment>
      readonly handle: (call: ViewCall<Query>) => Promise<Handled>
    },
): Route => ({ of: 'view', method: 'GET', unused: 'refused', ...route }) as ViewRoute<Query & Moment> as Route

/** A query about two moments of one queue. */
export const spanRoute = <Query>(
  route: Omit<SpanRoute<Query & Span>, 'of' | 'method' | 'query' | 'handle'> & {
    readonly query: Input<Query & Span>
    readonly handle: (call: SpanCall<Query>) => Promise<Handled>
  },
): Route => ({ of: 'span', method: 'GET', ...route }) as SpanRoute<Query & Span> as Route

/** Converts the engine's outcome to an answer: its refusal, or the text of its value. */
export const replyWith = <A>(
  outcome: Outcome<A>,
  textOf: (value: A, revision: number) => string,
  status = 200,
): Handled => {
  if (E.isLeft(outcome)) return E.left(problemOf(outcome.left))
  const { value, revision } = outcome.right
  return E.right({ status, text: textOf(value, revision), revision })
}

/** What a query finds in the queue. `missing`: the refusal if there is nothing. */
export const find = async <A>(
  queue: Pick<QueueView, 'read'>,
  query: (state: QueueState, at: number) => A | undefined,
  missing: () => Problem,
): Promise<E.Either<Problem, Answer<A>>> => {
  const found = await queue.read(query)
  if (E.isLeft(found)) return E.left(problemOf(found.left))
  const { value, revision } = found.right
  return value === undefined ? E.left(missing()) : E.right({ value, revision })
}

/** Answers with what was found. */
export const replyFound = <A>(found: E.Either<Problem, Answer<A>>, textOf: (value: A, revision: number) => string): Handled =>
  E.map(({ value, revision }: Answer<A>) => ({ status: 200, text: textOf(value, revision), revision }))(found)
