/** What a route is: declared once, and served, documented and tested from that. */
import type { Readable } from 'node:stream'
import { type FieldError, validate } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import type * as t from 'io-ts'
import type { Daybook, Caller, Outcome, QueueEngine } from '../engine/index.js'
import type { HttpLimits } from './limits.js'
import type { Meter } from './meter.js'
import { type Problem, problemOf } from './problem.js'

/** Who may call a route; `anyone` needs no token. */
export type Role = 'anyone' | 'producer' | 'worker' | 'operator' | 'auditor' | 'admin'

export interface Reply {
  readonly status: number
  /** Ready-made JSON, or whatever `type` says. */
  readonly text: string | Readable
  /** Default: JSON. */
  readonly type?: string
  /** Of the queue, as this answer shows it. */
  readonly revision?: number
  /** Called should the connection end before the answer is out. */
  readonly undelivered?: (() => void) | undefined
}

/** A refusal may tell the queue's revision as well. */
export type Handled = E.Either<Problem & { readonly revision?: number }, Reply>

export interface Call<Body = unknown, Query = unknown> {
  readonly daybook: Daybook
  readonly limits: HttpLimits
  readonly meter: Meter
  /** Values of the path's `{names}`, decoded. */
  readonly params: Readonly<Record<string, string>>
  readonly query: Query
  readonly body: Body
  readonly caller: Caller
  /** The caller prefers lines to a page. */
  readonly wantsLines: boolean
  /** A request that is sent again has the same: see `taskIdsOf`. */
  readonly requestId: string | undefined
  /** Aborted when the caller goes away or the server stops. Made when first asked for. */
  readonly gone: () => AbortSignal
}

export interface QueueCall<Body = unknown, Query = unknown> extends Call<Body, Query> {
  readonly queue: QueueEngine
}

/** How a body or a query is checked, and what it is documented as. */
export interface Input<A> {
  readonly schema: t.Mixed
  readonly check: (input: unknown) => E.Either<ReadonlyArray<FieldError>, A>
  /** No body is the same as `{}`. */
  readonly mayBeAbsent: boolean
  /** A quicker way than parsing to read a body in UTF-8; `undefined` for one that it cannot read. */
  readonly read?: ReadBody
}

export type ReadBody = (bytes: Buffer) => unknown

export const input = <A>(codec: t.Type<A>, { mayBeAbsent = false, root = '' } = {}): Input<A> => ({
  schema: codec,
  check: validate(codec, root),
  mayBeAbsent,
})

interface Declared<Body, Query> {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** As OpenAPI writes it: `/api/queues/{queue}/tasks`. */
  readonly path: string
  readonly role: Role
  readonly summary: string
  readonly query?: Input<Query>
  readonly body?: Input<Body>
  /** What comes back when it goes well: status → schema, or a media type for what is no JSON. */
  readonly answers: Readonly<Record<number, t.Mixed | string>>
  /** Streams one JSON value a line to whoever prefers `application/x-ndjson`. */
  readonly lines?: true
}

export interface PlainRoute<Body = unknown, Query = unknown> extends Declared<Body, Query> {
  readonly of: 'server'
  readonly handle: (call: Call<Body, Query>) => Promise<Handled>
}

export interface QueueRoute<Body = unknown, Query = unknown> extends Declared<Body, Query> {
  readonly of: 'queue'
  /**
   * What this route does with a queue that nobody has used yet, or not since it was deleted: refuses it as not found, answers as
   * for an empty one, or opens it, so that it comes into being with the first event.
   */
  readonly unused: 'refused' | 'empty' | 'opened'
  readonly handle: (call: QueueCall<Body, Query>) => Promise<Handled>
}

export type Route = PlainRoute | QueueRoute

/**
 * A route of the server. The types of body and query are known here and to the handler; the table that
 * holds all routes need not know them, since `check` stands between.
 */
export const serverRoute = <Body, Query>(route: Omit<PlainRoute<Body, Query>, 'of'>): Route =>
  ({ of: 'server', ...route }) as PlainRoute<Body, Query> as Route

/** A route of one queue. */
export const queueRoute = <Body, Query>(
  route: Omit<QueueRoute<Body, Query>, 'of' | 'unused'> & Partial<Pick<QueueRoute, 'unused'>>,
): Route => ({ of: 'queue', unused: 'refused', ...route }) as QueueRoute<Body, Query> as Route

/** The answer to what the engine said: its refusal, or a text made of its value. */
export const replyWith = <A>(
  outcome: Outcome<A>,
  textOf: (value: A, revision: number) => string,
  status = 200,
): Handled => {
  if (E.isLeft(outcome)) return E.left(problemOf(outcome.left))
  const { value, revision } = outcome.right
  return E.right({ status, text: textOf(value, revision), revision })
}
