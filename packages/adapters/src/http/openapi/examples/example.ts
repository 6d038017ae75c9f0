/** Examples of requests. What a server answered to each is in `recorded.json`. */

/** A request that comes before an example, so that there is what the example is about. `keep`: names for members of its answer, used as `{{name}}` later. */
export interface Step {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly keep?: Readonly<Record<string, string>>
}

export interface RequestExample {
  /** Names it within its operation. */
  readonly title: string
  /** With its query, as it is sent; its queue is always `builds`. */
  readonly path: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly before?: ReadonlyArray<Step>
  /** It is about the whole server, not about one queue: it is played on a server where there is nothing else. */
  readonly alone?: true
}

/** By operation: `POST /api/queues/{queue}/tasks`. */
export type Examples = Readonly<Record<string, ReadonlyArray<RequestExample>>>

/** What an operation answered. `path`: of the request, with what was kept from earlier answers. */
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
/** Fails for good: it is a dead letter. */
export const failed = (id = 'fix-login'): Step => post(`${queue}/tasks/${id}/fail`, { ...holder, error: { message: 'connection refused', code: 'ECONNREFUSED' }, retryable: false })
export const deadLetter = (id = 'fix-login'): ReadonlyArray<Step> => [enqueued(id), claimed(), failed(id)]
export const review = { reviewer: 'ada', reason: 'the host is up again' }
