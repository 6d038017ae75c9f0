/** The only function with which the console sends requests to its server. */
import { signal } from '@preact/signals'
import { type Query, textOfQuery } from '../address/url.js'
import { exactNumbers, exactText } from './exact-numbers.js'
import { noteDate, serverNow } from './server-time.js'
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

/** Whether it may succeed by itself when it is asked again. */
export const mayPass = ({ status }: ApiProblem): boolean => status === 0 || status >= 500 || status === 429

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
  /** The answer is no JSON, and is taken as it is: a picture, a table. */
  readonly isText?: boolean
  /** It is given up if the server says nothing at all for `silentMs`, to this request or to another. Not for what is known to take long, such as past moments. */
  readonly isSoon?: boolean
}

/** After so long without any answer, the server stands still, or a network swallows what is sent: neither ends a connection. */
const silentMs = 10_000

/** When the server was last heard, in milliseconds that only go on. */
let heardAt = 0

/** Aborts when the server has been silent for too long. `stop` it when there is an answer. */
const untilSilent = (): { readonly signal: AbortSignal; readonly stop: () => void } => {
  const controller = new AbortController()
  const begunAt = performance.now()
  const looking = setInterval(() => {
    if (performance.now() - Math.max(begunAt, heardAt) >= silentMs) controller.abort()
  }, silentMs / 10)
  return { signal: controller.signal, stop: () => clearInterval(looking) }
}

/** When the server last answered; and since when it has not. Milliseconds since 1970. */
export const contact = signal<{ readonly lastAt?: number; readonly lostAt?: number }>({})

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Rejects with `ApiProblem`, or with the signal's reason. */
export const request = async <A>(method: Method, path: string, options: RequestOptions = {}): Promise<Answer<A>> => {
  const { exact = false, isText = false } = options
  const { response, taken: text } = await send(method, path, isText ? '*/*' : 'application/json', options, (answer) => answer.text())
  const revision = response.headers.get('x-daybook-revision')
  const value = (text === '' ? undefined : isText ? text : exact ? exactNumbers(text) : JSON.parse(text)) as A
  return { value, at: serverNow(), ...(revision === null ? {} : { revision: Number(revision) }) }
}

/** Lines of JSON as they come, without their ends. For answers that are too long to be held as a whole. Rejects like `request`. */
export const requestLines = async function* (path: string, options: Pick<RequestOptions, 'query' | 'signal'> = {}): AsyncGenerator<string> {
  const { taken: body } = await send('GET', path, 'application/x-ndjson', options, async (answer) => answer.body)
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
  const next = async (): Promise<ReadableStreamReadResult<string> | undefined> => {
    try {
      return await reader?.read()
    } catch (error) {
      if (options.signal?.aborted === true) throw error
      throw new ApiProblem(0, 'unreachable', 'the answer broke off')
    }
  }
  let rest = ''
  try {
    for (let part = await next(); part !== undefined && !part.done; part = await next()) {
      const lines = (rest + part.value).split('\n')
      rest = lines.pop() ?? ''
      yield* lines
    }
  } finally {
    await reader?.cancel().catch(() => undefined)
  }
  if (rest !== '') yield rest
}

/** Any answer that is no refusal, and what is taken of it. */
const send = async <A>(method: Method, path: string, accept: string, { query = {}, body, signal, isSoon = false }: RequestOptions, take: (response: Response) => Promise<A>): Promise<{ readonly response: Response; readonly taken: A }> => {
  const used = token.value
  const sent = body === undefined ? undefined : exactText(body)
  const init = {
    method,
    headers: {
      accept,
      ...(used === undefined ? {} : { authorization: `Bearer ${used}` }),
      ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
      ...(method === 'POST' ? { 'idempotency-key': keyFor(path, sent) } : {}),
    },
    ...(sent === undefined ? {} : { body: sent }),
    ...(signal === undefined ? {} : { signal }),
    isSoon,
  }
  const found = await reach(`${path}${textOfQuery(query)}`, init, async (response) => (response.ok ? { response, taken: await take(response) } : { response, refusal: await response.text() }))
  if (method === 'POST' && found.response.status < 500 && !found.response.headers.has('retry-after')) answered(path, sent)
  if ('refusal' in found) throw refused(found.response.status, found.refusal, used)
  return found
}

/**
 * Of commands that have no answer yet, or whose answers were lost, also by a proxy: if the same is sent again, it has the same key, and the server does
 * it once.
 */
const keys = new Map<string, string>()

/** Whoever asks for the same later means it once more, such as another pause for the same reason: with the old key, the server would only repeat its old answer. */
export const forgetKeys = (): void => keys.clear()

const keyFor = (path: string, sent = ''): string => {
  const key = keys.get(`${path} ${sent}`) ?? randomKey()
  keys.set(`${path} ${sent}`, key)
  return key
}

const answered = (path: string, sent = ''): void => void keys.delete(`${path} ${sent}`)

const reach = async <A>(url: string, { isSoon, ...init }: RequestInit & { readonly isSoon: boolean }, take: (response: Response) => Promise<A>): Promise<A> => {
  const silence = isSoon ? untilSilent() : undefined
  const begunAt = performance.now()
  const signals = [init.signal, silence?.signal].filter((signal) => signal !== undefined && signal !== null)
  try {
    const response = await fetch(url, { ...init, ...(signals.length === 0 ? {} : { signal: AbortSignal.any(signals) }), cache: 'no-store', credentials: 'omit', redirect: 'error' })
    heardAt = performance.now()
    noteDate(response.headers.get('date'))
    contact.value = { lastAt: serverNow() }
    return await take(response)
  } catch (error) {
    if (init.signal?.aborted === true) throw error
    // The server has been heard since this request began: only this one failed. Unless it was given up because all are silent.
    if (heardAt <= begunAt || silence?.signal.aborted === true) noteLost()
    throw new ApiProblem(0, 'unreachable', 'the server does not answer')
  } finally {
    silence?.stop()
  }
}

const noteLost = (): void => {
  const { lastAt, lostAt = serverNow() } = contact.value
  contact.value = { ...(lastAt === undefined ? {} : { lastAt }), lostAt }
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
