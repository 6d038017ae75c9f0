/** What a handler returned or threw, as the queue is told of it. */
import type { Failure, Result } from '@daybook/core'
import { type Handler, LeaseLost, PermanentError, Release } from './handler.js'
import type { Run } from './run.js'
import type { SettleOutcome } from './source.js'

const messageMax = 4_000
const stackMax = 8_000
const reasonMax = 4_000

const nothing: Result = {}

/** Calls the handler. What came of it; `undefined` if it goes on, and then it is told `later`. */
export const outcomeOf = (
  run: Run,
  { handler, agentId }: { readonly handler: Handler; readonly agentId: string },
  later: (run: Run, outcome: SettleOutcome) => void,
): SettleOutcome | undefined => {
  try {
    const result = handler(run.task, run)
    if (!isPromise(result)) return returned(run, agentId, result)
    result.then(
      (value) => later(run, returned(run, agentId, value)),
      (error: unknown) => later(run, thrown(run, agentId, error)),
    )
    return undefined
  } catch (error) {
    return thrown(run, agentId, error)
  }
}

const isPromise = <A>(value: A | Promise<A>): value is Promise<A> =>
  value instanceof Promise || typeof (value as Partial<Promise<A>> | undefined)?.then === 'function'

const returned = (run: Run, agentId: string, result: Result | void): SettleOutcome => {
  if (typeof result === 'object' && result !== null && result.success === false) {
    const message = result.errors?.join('; ') || 'the handler returned success: false'
    return failure(run, agentId, { message: message.slice(0, messageMax) }, true)
  }
  return { kind: 'complete', taskId: run.task.id, agentId, token: run.token, result: result ?? nothing }
}

const thrown = (run: Run, agentId: string, error: unknown): SettleOutcome =>
  error instanceof Release
    ? released(run, agentId, error.message)
    : failure(run, agentId, failureOf(error), !(error instanceof PermanentError))

export const released = (run: Run, agentId: string, reason: string): SettleOutcome => ({
  kind: 'release',
  taskId: run.task.id,
  agentId,
  token: run.token,
  reason: reason.slice(0, reasonMax),
})

/** A checkpoint that no heartbeat has carried yet goes with the failure, for whoever tries next. */
const failure = (run: Run, agentId: string, error: Failure, retryable: boolean): SettleOutcome => {
  const { checkpoint, waiters } = run.takeNote()
  for (const { reject } of waiters) reject(new LeaseLost('the handler ended before this checkpoint was sent'))
  const failed = { kind: 'fail' as const, taskId: run.task.id, agentId, token: run.token, error, retryable }
  return checkpoint === undefined ? failed : { ...failed, checkpoint }
}

/**
 * Messages and stacks are cut: an error that carries a whole response would make the task's history
 * unreadable, and could be refused as too large.
 */
const failureOf = (error: unknown): Failure => {
  if (!(error instanceof Error)) return { message: String(error).slice(0, messageMax) }
  const { code, retryAfter } = error as { code?: unknown; retryAfter?: unknown }
  return {
    message: (error.message || error.name).slice(0, messageMax),
    ...(typeof code === 'string' ? { code } : {}),
    ...((typeof retryAfter === 'number' && Number.isFinite(retryAfter)) || typeof retryAfter === 'string' ? { retryAfter } : {}),
    ...(error.stack === undefined ? {} : { stack: error.stack.slice(0, stackMax) }),
  }
}
