/** Hooks that show the answer to a question, and keep it fresh. */
import { useEffect, useMemo, useState } from 'preact/hooks'
import { momentShown } from '../address/address.js'
import { pathOf, type Query } from '../address/url.js'
import { type Asked, ask, type Question } from './questions.js'

export interface Shown<A> {
  readonly value?: A
  /** The revision that it shows. */
  readonly revision?: number
  /** When it was fetched, in milliseconds since 1970. */
  readonly at?: number
  readonly error?: Asked<A>['error']
  readonly isAsking: boolean
  readonly again: () => void
}

const nothing = { isAsking: false, again: () => undefined }

/** `undefined` asks nothing. */
export const useQuestion = <A>(question: Question | undefined): Shown<A> => {
  const key = question === undefined ? undefined : JSON.stringify(question)
  const [shown, show] = useState<{ readonly key: string; readonly asked: Asked<A>; readonly again: () => void } | undefined>(undefined)
  useEffect(() => {
    if (question === undefined || key === undefined) return undefined
    const { state, again, stop } = ask<A>(question)
    const unsubscribe = state.subscribe((asked) => show({ key, asked, again }))
    return () => {
      unsubscribe()
      stop()
    }
    // The key is the question.
  }, [key])
  return useMemo(() => {
    if (key === undefined || shown === undefined || shown.key !== key) return key === undefined ? nothing : { ...nothing, isAsking: true }
    const { asked: { answer, error, isAsking }, again } = shown
    return {
      isAsking,
      again,
      ...(answer === undefined ? {} : { value: answer.value, at: answer.at, ...(answer.revision === undefined ? {} : { revision: answer.revision }) }),
      ...(error === undefined ? {} : { error }),
    }
  }, [key, shown])
}

export interface QueueQuestionOptions {
  readonly query?: Partial<Query>
  /** Keeps numbers as they were sent. */
  readonly exact?: boolean
  /** Also asked at this interval, for what changes with time alone. Milliseconds. */
  readonly everyMs?: number
  /** Asks nothing as long as it is false. Default true. */
  readonly when?: boolean
  /** It cannot be asked about the past, and shows the present always. */
  readonly presentOnly?: boolean
  /** It does not change, and does not follow the queue. */
  readonly isAskedOnce?: boolean
}

/**
 * A question about a queue: `GET /api/queues/{queue}/{segments…}`. It follows the queue; with a moment in the address it asks about that moment, once.
 *
 * @example
 * const { value, error } = useQueue<Depth>(queue, ['depth'])
 */
export const useQueue = <A>(queue: string, segments: ReadonlyArray<string>, { query = {}, exact = false, everyMs, when = true, presentOnly = false, isAskedOnce = false }: QueueQuestionOptions = {}): Shown<A> => {
  const moment = presentOnly ? undefined : momentShown.value
  return useQuestion<A>(
    when
      ? {
          path: pathOf(['api', 'queues', queue, ...segments]),
          query: { ...query, ...moment },
          exact,
          ...(moment === undefined && !isAskedOnce ? { queue, ...(everyMs === undefined ? {} : { everyMs }) } : {}),
        }
      : undefined,
  )
}
