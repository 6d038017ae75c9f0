/** Reports once when the server stops answering and once when it answers again, however often the worker tries. */
import { errorText } from '../error-text.js'
import type { TaskSource } from '../worker/index.js'
import { isOutage } from './outage.js'

export interface OutageTeller {
  readonly down: (why: string) => void
  readonly up: () => void
}

export const watchSource = (source: TaskSource, tell: OutageTeller): TaskSource => {
  /** The kinds of calls that fail at present. Claims may be answered again before outcomes are. */
  const failing = new Set<keyof TaskSource>()
  const down = (call: keyof TaskSource, why: string): void => {
    if (failing.size === 0) tell.down(why)
    failing.add(call)
  }
  const up = (call: keyof TaskSource): void => {
    const wasDown = failing.size > 0
    failing.delete(call)
    // After the last outcome there are no more heartbeats that could succeed.
    if (call === 'settle') failing.delete('heartbeat')
    if (wasDown && failing.size === 0) tell.up()
  }
  const watched = async <A>(call: keyof TaskSource, answer: Promise<A>): Promise<A> => {
    try {
      return await answer
    } catch (error) {
      if (isOutage(error)) down(call, errorText(error))
      throw error
    }
  }
  /** A call with several items. Each has its own answer, which may be an outage. */
  const watchedEach = async <A extends { readonly ok: boolean; readonly detail?: string }>(call: keyof TaskSource, answer: Promise<ReadonlyArray<A>>): Promise<ReadonlyArray<A>> => {
    const answers = await watched(call, answer)
    const failed = answers.find((one) => !one.ok && isOutage(one))
    if (failed !== undefined) down(call, failed.detail ?? '')
    else up(call)
    return answers
  }
  return {
    claim: async (request, signal) => {
      const works = await watched('claim', source.claim(request, signal))
      up('claim')
      return works
    },
    settle: (outcomes, attempt) => watchedEach('settle', source.settle(outcomes, attempt)),
    heartbeat: (heartbeats, timeoutMs) => watchedEach('heartbeat', source.heartbeat(heartbeats, timeoutMs)),
    // The worker works without registration, and an outage shows in the claims.
    ...(source.register === undefined ? {} : { register: source.register }),
  }
}
