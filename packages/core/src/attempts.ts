/**
 * How often a task may be tried. The decision, the views and the claims all ask here, so that "attempt 2 of 3" means what
 * it says: if the attempt that is the last of so many fails, the task becomes a dead letter, and not before.
 */
import type { Status } from './task.js'

/** What has happened to a task so far, and what it was allowed. */
export interface Tried {
  readonly maxRetries: number
  /** Attempts that failed or expired since the last requeue. */
  readonly retries: number
  /** Claims that ended without success since the last requeue (INV-3). */
  readonly attempts: number
}

/**
 * `maxRetries` counts failures, the first one included (LK-09): with 3 a task has three attempts. 0 means one attempt, as 1
 * does, since nothing is given up before it was tried.
 */
const failuresMax = (maxRetries: number): number => Math.max(1, maxRetries)

/** Why a task is given up if the attempt under way fails; `undefined` while it would be tried again. */
export const exhaustedBy = (
  { maxRetries, retries, attempts }: Tried,
  maxAttempts: number,
): 'retries-exhausted' | 'attempts-exhausted' | undefined =>
  retries + 1 >= failuresMax(maxRetries) ? 'retries-exhausted' : attempts + 1 >= maxAttempts ? 'attempts-exhausted' : undefined

export interface Attempt {
  /** The attempt under way, or the last one: 1, 2, 3 …; 0 before the first. */
  readonly attempt: number
  /**
   * Attempts that the task can have in all, as things stand: those that have ended, and as many more as may fail. A release
   * uses up an attempt and no retry, so it moves this one up, as far as the queue's `maxAttempts`.
   */
  readonly attemptsMax: number
}

/** A claim that succeeds never counts among the ended ones, so a held or completed task is in the attempt behind those. */
const isInAttempt = (status: Status): boolean => status === 'in-progress' || status === 'incomplete' || status === 'completed'
const isGivenUp = (status: Status): boolean => status === 'dead-letter' || status === 'cancelled' || status === 'discarded'

export const attemptOf = (task: Tried & { readonly status: Status }, maxAttempts: number): Attempt => {
  const { maxRetries, retries, attempts, status } = task
  const left = Math.max(0, failuresMax(maxRetries) - retries)
  // A lowered `maxAttempts` does not take away the attempt that is under way or comes next.
  const least = attempts + (isGivenUp(status) ? 0 : 1)
  return {
    attempt: attempts + (isInAttempt(status) ? 1 : 0),
    attemptsMax: Math.max(least, Math.min(maxAttempts, attempts + left)),
  }
}
