/** Answers queries about past moments: on this thread, or on a separate one. */
import * as E from 'fp-ts/lib/Either.js'
import { pastLimitsDefault } from '../../past/index.js'
import { problem } from '../problem.js'
import type { Handled } from '../routes/route.js'
import { type AnswerPast, answerPastFrom, type PastSource } from './answer-past.js'
import type { PastThreadOptions } from './past-protocol.js'
import { PastThread } from './thread-of-past.js'

export interface PastAnswers {
  /** Answers a query. `signal` aborts when nobody waits for the answer any more. Rejects with a StoreError if the log cannot be read. */
  readonly ask: AnswerPast
  readonly close: () => Promise<void>
}

/** The largest number of waiting queries. They are answered one after the other, and a replay may take seconds. */
const waitingMax = 32

const overloaded = problem('overloaded', `${waitingMax} questions about the past wait already`, { retryAfterSeconds: 2 })

const withLimit = (ask: AnswerPast): AnswerPast => {
  let waiting = 0
  return async (question, signal): Promise<Handled> => {
    if (waiting >= waitingMax) return E.left(overloaded)
    waiting++
    try {
      return await ask(question, signal)
    } finally {
      waiting--
    }
  }
}

/** On this thread: for a log that no other thread can read, and for a program that serves nobody else. */
export const pastAnswersHere = (source: PastSource): PastAnswers => ({ ask: withLimit(answerPastFrom(source)), close: async () => undefined })

/**
 * On a separate thread. The first query starts it. It is ended after a time without queries, when kept states are dropped as well, because its heap
 * would not shrink.
 */
export const pastAnswersOnThread = (options: PastThreadOptions): PastAnswers => {
  const { idleMs } = options.states ?? pastLimitsDefault
  let thread: PastThread | undefined
  let idle: NodeJS.Timeout | undefined
  let isClosed = false

  const start = (): PastThread => {
    const started: PastThread = new PastThread(options, () => {
      if (thread === started) thread = undefined
    })
    return started
  }
  const endWhenIdle = (): void => {
    clearTimeout(idle)
    idle = setTimeout(() => {
      if (thread === undefined) return
      if (thread.isAsked) return endWhenIdle()
      const ended = thread
      thread = undefined
      void ended.close()
    }, idleMs)
    idle.unref()
  }

  return {
    ask: withLimit((question, signal) => {
      if (isClosed) return Promise.resolve(E.left(problem('unavailable', 'the server is stopping: try again shortly', { retryAfterSeconds: 1 })))
      thread ??= start()
      return thread.ask(question, signal).finally(endWhenIdle)
    }),
    close: async () => {
      isClosed = true
      clearTimeout(idle)
      await thread?.close()
    },
  }
}
