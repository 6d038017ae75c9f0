/** The only function with which the console sends requests to its server. */
import { signal } from '@preact/signals'
import { type Query, textOfQuery } from '../address/url.js'
import { exactNumbers, exactText } from './exact-numbers.js'
import { logOut, token } from './session.js'

/** A refusal (RFC 9457), or a server that does not answer. Then `code` is `unreachable`, and `status` 0. */
export class ApiProblem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    detail: string,
    readonly errors: ReadonlyArray<{ readonly path: string; readonly message: string }> = [],
    readonly correlationId?: string,
  ) {
    super(detail)
  }
}

export interface Answer<A> {
  readonly value: A
  /** The queue's revision that the answer includes, or to which the command led. */
  readonly revision?: number
  /** When the answer came, in milliseconds since 1970. */
  readonly at: number
}

export interface RequestOptions {
  readonly query?: Partial<Query>
  readonly body?: unknown
  readonly signal?: AbortSignal
  /** Numbers that JavaScript cannot hold are kept as text: see `ExactNumber`. */
  readonly exact?: boolean
}

/** When the server last answered; and since when it has not. Milliseconds since 1970. */
export const contact = signal<{ readonly lastAt?: number; readonly lostAt?: number }>({})

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Rejects with `ApiProblem`, or with the signal's reason. */
export const request = async <A>(method: Method, path: string, { query = {}, body, signal, exact = false }: RequestOptions = {}): Promise<Answer<A>> => {
  const used = token.value
  const sent = body === undefined ? undefined : exactText(body)
  const { response, text } = await reach(`${path}${textOfQuery(query)}`, {
    method,
    headers: {
      accept: 'application/json',
      ...(used === undefined ? {} : { authorization: `Bearer ${used}` }),
      ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
      ...(method === 'POST' ? { 'idempotency-key': keyFor(path, sent) } : {}),
    },
    ...(sent === undefined ? {} : { body: sent }),
    ...(signal === undefined ? {} : { signal }),
  })
  if (method === 'POST' && !response.headers.has('retry-after')) answered(path, sent)
  if (!response.ok) throw refused(response.status, text, used)
  const revision = response.headers.get('x-daybook-revision')
  const value = (text === '' ? undefined : exact ? exactNumbers(text) : JSON.parse(text)) as A
  return { value, at: Date.now(), ...(revision === null ? {} : { revision: Number(revision) }) }
}

/** Of commands that have no answer yet, or whose answers were lost: if the same is sent again, it has the same key, and the server does it once. */
const keys = new Map<string, string>()

const keyFor = (path: string, sent = ''): string => {
  const key = keys.get(`${path} ${sent}`) ?? randomKey()
  keys.set(`${path} ${sent}`, key)
  return key
}

const answered = (path: string, sent = ''): void => void keys.delete(`${path} ${sent}`)

const reach = async (url: string, init: RequestInit): Promise<{ readonly response: Response; readonly text: string }> => {
  try {
    const response = await fetch(url, { ...init, cache: 'no-store', credentials: 'omit', redirect: 'error' })
    contact.value = { lastAt: Date.now() }
    return { response, text: await response.text() }
  } catch (error) {
    throw lost(error, init.signal)
  }
}

const lost = (error: unknown, signal: AbortSignal | null | undefined): unknown => {
  if (signal?.aborted === true) return error
  const { lastAt, lostAt = Date.now() } = contact.value
  contact.value = { ...(lastAt === undefined ? {} : { lastAt }), lostAt }
  return new ApiProblem(0, 'unreachable', 'the server does not answer')
}

const refused = (status: number, text: string, used: string | undefined): ApiProblem => {
  const { code = 'internal', detail = `the server answered ${status}`, errors, correlationId } = problemIn(text)
  // Another token may have been given meanwhile.
  if (status === 401 && used === token.value) logOut(used === undefined ? '' : detail)
  return new ApiProblem(status, code, detail, errors, correlationId)
}

interface ProblemText {
  readonly code?: string
  readonly detail?: string
  readonly errors?: ReadonlyArray<{ readonly path: string; readonly message: string }>
  readonly correlationId?: string
}

const problemIn = (text: string): ProblemText => {
  try {
    return JSON.parse(text) as ProblemText
  } catch {
    return {}
  }
}

/** `crypto.randomUUID` exists only on HTTPS and loopback addresses. */
export const randomKey = (): string => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
