/**
 * How often a task may be tried. Decisions, views and claims all use these functions, so that "attempt 2 of 3" is
 * reliable: the task becomes a dead letter exactly when its last attempt fails.
 */
import type { Status } from './task.js'

/** The attempts of a task so far, and its limits. */
export interface Tried {
  readonly maxRetries: number
  /** Attempts that failed or expired since the last requeue. */
  readonly retries: number
  /** Claims that ended without success since the last requeue (INV-3). */
  readonly attempts: number
}

/**
 * `maxRetries` counts failures including the first (LK-09): 3 means three attempts. 0 means one attempt, like 1, because
 * a task is not given up before it was tried.
 */
const failuresMax = (maxRetries: number): number => Math.max(1, maxRetries)

/** Why the task is given up if the attempt under way fails; `undefined` if it would be retried. */
export const exhaustedBy = (
  { maxRetries, retries, attempts }: Tried,
  maxAttempts: number,
): 'retries-exhausted' | 'attempts-exhausted' | undefined =>
  retries + 1 >= failuresMax(maxRetries) ? 'retries-exhausted' : attempts + 1 >= maxAttempts ? 'attempts-exhausted' : undefined

export interface Attempt {
  /** The attempt under way, or the last one: 1, 2, 3 …; 0 before the first. */
  readonly attempt: number
  /**
   * The largest number of attempts that the task can have: those that have ended, and those that may still fail. A release uses up an attempt but no
   * retry, so it raises this number, up to the queue's `maxAttempts`.
   */
  readonly attemptsMax: number
}

/** `attempts` counts claims that ended without success. A task that is held or completed is one attempt further. */
const isInAttempt = (status: Status): boolean => status === 'in-progress' || status === 'incomplete' || status === 'completed'
const isGivenUp = (status: Status): boolean => status === 'dead-letter' || status === 'cancelled' || status === 'discarded'

export const attemptOf = (task: Tried & { readonly status: Status }, maxAttempts: number): Attempt => {
  const { maxRetries, retries, attempts, status } = task
  const left = Math.max(0, failuresMax(maxRetries) - retries)
  // A lower `maxAttempts` does not take away the attempt that is under way or comes next.
  const least = attempts + (isGivenUp(status) ? 0 : 1)
  return {
    attempt: attempts + (isInAttempt(status) ? 1 : 0),
    attemptsMax: Math.max(least, Math.min(maxAttempts, attempts + left)),
  }
}
