/**
 * Requests to the server. Each is sent once, however many components show its answer. The last answer stays while the next is fetched. One timer
 * decides what is due: data that the live connection says have moved, at most once a second, and data that are fetched at intervals. Hidden tabs and
 * past moments fetch nothing again.
 */
import { type Signal, signal } from '@preact/signals'
import { type Answer, ApiProblem, mayPass, request, type RequestOptions } from './request.js'
import { serverNow } from './server-time.js'

export interface Question {
  readonly path: string
  readonly query?: RequestOptions['query']
  readonly exact?: boolean
  readonly isText?: boolean
  /** Fetched again when this queue moves. */
  readonly queue?: string
  /** Fetched again at this interval, in milliseconds. */
  readonly everyMs?: number
}

export interface Asked<A> {
  /** The last good answer, also while a later request fails. */
  readonly answer?: Answer<A>
  /** Why the last request failed. */
  readonly error?: ApiProblem
  readonly isAsking: boolean
}

interface Entry {
  readonly question: Question
  readonly state: Signal<Asked<unknown>>
  users: number
  /** Milliseconds since 1970, for people. */
  begunAt: number
  /** The same in milliseconds that only go on: the clock of a computer may be set back. */
  ranAt: number
  isDirty: boolean
  running: AbortController | undefined
}

const entries = new Map<string, Entry>()

/** Since when an answer about the past is awaited, in milliseconds since 1970: a moment that nobody has looked at lately is computed first, which may take seconds. */
export const pastAwaitedSince = signal<number | undefined>(undefined)

const isAwaitedPast = ({ running, state, question: { query } }: Entry): boolean =>
  running !== undefined && state.peek().answer === undefined && (query?.at !== undefined || query?.revision !== undefined)

const notePast = (): void => {
  const since = [...entries.values()].filter(isAwaitedPast).map(({ begunAt }) => begunAt)
  pastAwaitedSince.value = since.length === 0 ? undefined : Math.min(...since)
}
/** At most one request a second for one question. */
const throttleMs = 1_000
const tickMs = 250

const keyOf = (question: Question): string => JSON.stringify(question)

/** Starts to fetch. Call `stop` when no component shows the answer any more. */
export const ask = <A>(question: Question): { readonly state: Signal<Asked<A>>; readonly again: () => void; readonly stop: () => void } => {
  const key = keyOf(question)
  const entry = entries.get(key) ?? { question, state: signal<Asked<unknown>>({ isAsking: false }), users: 0, begunAt: 0, ranAt: Number.NEGATIVE_INFINITY, isDirty: true, running: undefined }
  entries.set(key, entry)
  entry.users++
  if (entry.isDirty && entry.running === undefined) void run(entry)
  return {
    state: entry.state as Signal<Asked<A>>,
    again: () => void run(entry),
    stop: () => {
      entry.users--
      if (entry.users > 0) return
      entry.running?.abort()
      if (entries.get(key) === entry) entries.delete(key)
      notePast()
    },
  }
}

const run = async (entry: Entry): Promise<void> => {
  entry.running?.abort()
  const controller = new AbortController()
  entry.running = controller
  entry.isDirty = false
  entry.begunAt = serverNow()
  entry.ranAt = performance.now()
  entry.state.value = { ...entry.state.value, isAsking: true }
  notePast()
  const { path, query = {}, exact = false, isText = false } = entry.question
  try {
    const answer = await request<unknown>('GET', path, { query, exact, isText, signal: controller.signal, isSoon: isLive(entry) })
    if (entry.running === controller) entry.state.value = { answer, isAsking: false }
  } catch (error) {
    if (entry.running !== controller || controller.signal.aborted) return
    const { answer } = entry.state.value
    const what = error instanceof ApiProblem ? error : new ApiProblem(0, 'internal', String(error))
    entry.state.value = { ...(answer === undefined ? {} : { answer }), error: what, isAsking: false }
    // What may succeed by itself is tried again, also what is asked once only.
    if (mayPass(what)) entry.isDirty = true
  } finally {
    if (entry.running === controller) entry.running = undefined
    notePast()
  }
}

/** The queue has moved: its shown data are fetched again. */
export const moved = (queue: string): void => {
  for (const entry of entries.values()) if (entry.question.queue === queue) entry.isDirty = true
}

/** Everything is fetched again, as after a login or a lost connection. */
export const allMoved = (): void => {
  for (const entry of entries.values()) if (isLive(entry)) entry.isDirty = true
}

const isLive = ({ question: { queue, everyMs } }: Entry): boolean => queue !== undefined || everyMs !== undefined

const tick = (): void => {
  if (document.hidden) return
  const now = performance.now()
  for (const entry of entries.values()) {
    if (entry.running !== undefined || entry.users === 0 || now - entry.ranAt < waitMs(entry)) continue
    const { everyMs } = entry.question
    if (entry.isDirty || (everyMs !== undefined && now - entry.ranAt >= everyMs)) void run(entry)
  }
}

/** After a failure the server is not asked for a while. */
const waitMs = ({ state }: Entry): number => (state.peek().error === undefined ? throttleMs : 3 * throttleMs)

export const startAsking = (): void => void setInterval(tick, tickMs)
