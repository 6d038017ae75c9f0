/** Hooks that provide the answer to a request, and keep it fresh. */
import { signal } from '@preact/signals'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
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
  /** It is the answer for another moment, and stays until that of the moment shown has come. */
  readonly isLeftOver?: true
  readonly again: () => void
}

/** How many answers are left over on the page: as long as there is one, nothing on it can be pressed. */
export const leftOvers = signal(0)

/** What is asked, whenever: answers to it are of one kind. */
const subjectOf = ({ path, query = {}, exact = false }: Question): string => JSON.stringify([path, { ...query, at: undefined, revision: undefined }, exact])

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
  const last = useRef<{ readonly subject: string; readonly value: A; readonly at: number } | undefined>(undefined)
  const found = useMemo((): Shown<A> => {
    if (question === undefined) return nothing
    const subject = subjectOf(question)
    const { asked: { answer, error, isAsking }, again } = shown === undefined || shown.key !== key ? { asked: { isAsking: true } as Asked<A>, again: nothing.again } : shown
    if (answer === undefined && error === undefined && last.current?.subject === subject) return { isAsking, again, value: last.current.value, at: last.current.at, isLeftOver: true }
    last.current = answer === undefined ? undefined : { subject, value: answer.value, at: answer.at }
    return {
      isAsking,
      again,
      ...(answer === undefined ? {} : { value: answer.value, at: answer.at, ...(answer.revision === undefined ? {} : { revision: answer.revision }) }),
      ...(error === undefined ? {} : { error }),
    }
  }, [key, shown])
  const isLeftOver = found.isLeftOver === true
  useEffect(() => {
    if (!isLeftOver) return undefined
    leftOvers.value = leftOvers.peek() + 1
    return () => void (leftOvers.value = leftOvers.peek() - 1)
  }, [isLeftOver])
  return found
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
