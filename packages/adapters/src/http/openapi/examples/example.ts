/** Examples of requests. What a server answered to each is in `recorded.json`. */

/** A request that prepares an example. `keep`: names for members of its answer, which later requests use as `{{name}}`. */
export interface Step {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly keep?: Readonly<Record<string, string>>
}

export interface RequestExample {
  /** Unique within its operation. */
  readonly title: string
  /** The path with its query, as it is sent. Its queue is always `builds`. */
  readonly path: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly before?: ReadonlyArray<Step>
  /** The example is about the whole server, not about one queue, so it is played on an empty server. */
  readonly alone?: true
}

/** By operation: `POST /api/queues/{queue}/tasks`. */
export type Examples = Readonly<Record<string, ReadonlyArray<RequestExample>>>

/** The answer to an example. `path`: that of the request, with values kept from earlier answers. */
export interface RecordedAnswer {
  readonly path: string
  readonly status: number
  readonly type: string
  /** JSON, or the text of another media type. */
  readonly body: unknown
}

// -------------------------------------------------------------------------------- steps in common

export const queue = '/api/queues/builds'
export const post = (path: string, body?: unknown): Step => ({ method: 'POST', path, body })
export const agentId = 'builder-1'
/** The first lease of a queue has the token 1. */
export const holder = { agentId, token: 1 }

export const enqueued = (id = 'fix-login', more: object = {}): Step => post(`${queue}/tasks`, { id, type: 'eng-backend', payload: { goal: 'fix the login' }, ...more })
export const claimed = (more: object = {}): Step => post(`${queue}/claims`, { agentId, ...more })
export const completed = (id = 'fix-login', result: object = {}): Step =>
  post(`${queue}/tasks/${id}/complete`, { ...holder, result: { output: { commit: '4f2a91c' }, decisionReport: 'the session cookie had no expiry', ...result } })
/** Fails the task for good: it becomes a dead letter. */
const failed = (id = 'fix-login'): Step => post(`${queue}/tasks/${id}/fail`, { ...holder, error: { message: 'connection refused', code: 'ECONNREFUSED' }, retryable: false })
export const deadLetter = (id = 'fix-login'): ReadonlyArray<Step> => [enqueued(id), claimed(), failed(id)]
export const review = { reviewer: 'ada', reason: 'the host is up again' }
