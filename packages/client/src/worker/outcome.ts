/** Turns the result or error of a handler into an outcome for the queue. */
import { type Failure, firstOf, type Json, type Result, textMax } from '@daybook/core/common'
import { isPromise, promiseOf } from '../handles/is-promise.js'
import { type Handler, LeaseLost, Park, PermanentError, Release, WorkerStopped } from './handler.js'
import type { Run } from './run.js'
import type { SettleOutcome } from './source.js'

const nothing: Result = {}

/** The worker that calls the handler. */
export interface Host {
  readonly handler: Handler
  readonly agentId: string
  readonly isStopping: () => boolean
}

/** Calls the handler and returns its outcome. If the handler returns a promise, returns `undefined` and later calls `later` with the outcome. */
export const outcomeOf = (
  run: Run,
  host: Host,
  later: (run: Run, outcome: SettleOutcome) => void,
): SettleOutcome | undefined => {
  try {
    const result = host.handler(run.task, run)
    if (!isPromise(result)) return returned(run, host, result)
    promiseOf(result).then(
      (value) => later(run, returned(run, host, value)),
      (error: unknown) => later(run, thrown(run, host, error)),
    )
    return undefined
  } catch (error) {
    return thrown(run, host, error)
  }
}

/** Why a result counts as a failed attempt; `undefined` if it does not. */
export const failureIn = (result: Result | void): string | undefined =>
  typeof result === 'object' && result !== null && result.success === false ? result.errors?.join('; ') || 'the handler returned success: false' : undefined

const returned = (run: Run, host: Host, result: Result | void): SettleOutcome => {
  const { agentId } = host
  try {
    const message = failureIn(result)
    if (message !== undefined) return failure(run, agentId, { message: kept(message, textMax) }, true)
    return { kind: 'complete', taskId: run.task.id, agentId, token: run.token, result: result ?? nothing }
  } catch (error) {
    // A handler in JavaScript may return anything, such as a text for the list of errors.
    return thrown(run, host, error)
  }
}

const thrown = (run: Run, { agentId, isStopping }: Host, error: unknown): SettleOutcome => {
  if (error instanceof Release) return refused(run, agentId, error.message)
  if (error instanceof Park) return parked(run, agentId, error)
  // A worker that is not stopping would claim the task again at once, without end and without counting an attempt.
  if (error instanceof WorkerStopped && isStopping()) return givenBack(run, agentId, error.message)
  return failure(run, agentId, failureOf(error), !(error instanceof PermanentError))
}

/** The outcome of a release by the handler, which bars the agent from the task (GB-04). */
const refused = (run: Run, agentId: string, reason: string) => ({
  kind: 'release' as const,
  taskId: run.task.id,
  agentId,
  token: run.token,
  reason: kept(reason, textMax),
})

/** The outcome of a task that a stopping worker gives back: no failure, and the agent is not barred. */
export const givenBack = (run: Run, agentId: string, reason: string): SettleOutcome => ({ ...refused(run, agentId, reason), stopping: true })

/** The failure of a handler that ran too long. */
export const ranTooLong = (run: Run, agentId: string, maxRunSeconds: number): SettleOutcome =>
  failure(run, agentId, { message: runTimeMessage(maxRunSeconds), code: 'run-time-exceeded' }, true)

export const runTimeMessage = (maxRunSeconds: number): string => `the handler ran longer than ${maxRunSeconds} s (maxRunSeconds)`

/** A checkpoint that was not sent with a heartbeat yet goes with the outcome, for the next attempt. */
const unsentCheckpoint = (run: Run): Json | undefined => {
  const { checkpoint, waiters } = run.takeNote()
  for (const { reject } of waiters) reject(new LeaseLost('the handler ended before this checkpoint was sent'))
  return checkpoint
}

const parked = (run: Run, agentId: string, { request }: Park): SettleOutcome => {
  const checkpoint = unsentCheckpoint(run)
  const unsent = checkpoint === undefined ? {} : { checkpoint }
  return { kind: 'park', taskId: run.task.id, agentId, token: run.token, ...unsent, ...request }
}

const failure = (run: Run, agentId: string, error: Failure, retryable: boolean): SettleOutcome => {
  const checkpoint = unsentCheckpoint(run)
  const failed = { kind: 'fail' as const, taskId: run.task.id, agentId, token: run.token, error, retryable }
  return checkpoint === undefined ? failed : { ...failed, checkpoint }
}

/**
 * Messages and stacks are cut. An error that carries a whole response would make the task's history unreadable, and could be refused as too large. A
 * message may have been cut before, in the middle of a surrogate pair. Any member may be something else than its type says, or throw when it is read.
 */
export const failureOf = (error: unknown): Failure => {
  try {
    if (!isError(error)) return { message: kept(String(error), textMax) }
    const { message, name, code, retryAfter, stack } = error as { [K in keyof Error | 'code' | 'retryAfter']?: unknown }
    return {
      message: kept(String(message || name || error), textMax),
      ...(typeof code === 'string' || typeof code === 'number' ? { code: kept(String(code), textMax) } : {}),
      ...(typeof retryAfter === 'number' && Number.isFinite(retryAfter) ? { retryAfter } : {}),
      ...(typeof retryAfter === 'string' ? { retryAfter: kept(retryAfter, textMax) } : {}),
      ...(typeof stack === 'string' ? { stack: kept(stack, stackMax) } : {}),
    }
  } catch {
    return { message: 'the handler threw something that has no text' }
  }
}

/** Some libraries throw plain objects, and an error of another realm is no `Error` of this one. */
const isError = (thrown: unknown): boolean => thrown instanceof Error || (typeof thrown === 'object' && thrown !== null && typeof (thrown as { readonly message?: unknown }).message === 'string')

const stackMax = 8_000
const kept = (text: string, max: number): string => firstOf(text.toWellFormed(), max)
