/** Hooks that provide the answer to a request, and keep it fresh. */
import { useEffect, useMemo, useState } from 'preact/hooks'
import { momentShown } from '../address/address.js'
import { pathOf, type Query } from '../address/url.js'
import { type Asked, ask, type Question } from './questions.js'

export interface Shown<A> {
  readonly value?: A
  /** The revision that the answer includes. */
  readonly revision?: number
  /** When it was fetched, in milliseconds since 1970. */
  readonly at?: number
  readonly error?: Asked<A>['error']
  readonly isAsking: boolean
  readonly again: () => void
}

const nothing = { isAsking: false, again: () => undefined }

/** With `undefined`, nothing is fetched. */
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
  /** Also fetched at this interval in milliseconds, for data that change with time alone. */
  readonly everyMs?: number
  /** Nothing is fetched while it is false. Default true. */
  readonly when?: boolean
  /** The data exist only for the present, and always show it. */
  readonly presentOnly?: boolean
  /** It does not change, and does not follow the queue. */
  readonly isAskedOnce?: boolean
}

/**
 * A query about a queue: `GET /api/queues/{queue}/{segments…}`. It is fetched again when the queue moves. With a moment in the address it is fetched
 * once, for that moment.
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
