/**
 * In which order a tenant's ready tasks are served (LK-17, TQM-PRI). A policy says which of two tasks comes first at an instant, and sorts the tasks
 * of a group into lanes. Scores change every millisecond, but within a lane the order never changes. So nothing is ever scored again: a claim
 * compares the first tasks of the lanes.
 *
 * - Tasks with the same priority, and the same parts of the score that do not change with time, share a lane. It is first in, first out: the task
 *   that came first has the higher score at any time.
 * - A task within the urgency window of its deadline is in a lane that is ordered by score: all scores there grow alike. A task with a deadline
 *   changes its lane at most five times, at instants known in advance.
 */
import { noExtras, type TaskRecord } from '../records/records.js'
import { Score, type Scored } from './score.js'
import type { Settings } from '../model/settings.js'

/** The lane of a task within its group, and the time until which it belongs there. */
export interface Place {
  /** Equal for tasks of the same lane. */
  readonly lane: number
  /** Orders the lane. Tasks with equal keys are ordered by {@link byPriorityThenAge}. */
  readonly key: (task: TaskRecord) => number
  /** When the task must be placed again; infinity for never. */
  readonly until: number
}

export interface Policy {
  readonly score: Score
  /** Tasks with the highest rank are served first; those with the same rank by {@link scoreAt}, then by priority, then first in, first out. */
  readonly rank: (task: Scored, at: number) => number
  readonly scoreAt: (task: Scored, at: number) => number
  /** A task that ranks and scores like all tasks of this lane that were enqueued at this time; `undefined` for lanes whose tasks differ in other fields. */
  readonly alikeIn: (lane: number, enqueuedAt: number, at: number) => Scored | undefined
  /** The lane of a task that has no deadline, or whose urgency window has not begun. Such lanes are first in, first out. */
  readonly plainLane: (task: TaskRecord) => number
  /** When the urgency window of a task with a deadline begins. */
  readonly urgentFrom: (task: TaskRecord) => number
  /** The place of a task whose urgency window has begun. */
  readonly urgentPlace: (task: TaskRecord, at: number) => Place
}

export const policyOf = ({ policy, score }: Pick<Settings, 'policy' | 'score'>): Policy =>
  policy === 'score' ? scorePolicy(new Score(score)) : priorityPolicy(new Score(score))

/** Orders a lane first in, first out. */
export const enqueuedAtOf = (task: TaskRecord): number => task.enqueuedAt
/** Orders the tasks of a lane that have equal keys. */
export const byPriorityThenAge = (a: TaskRecord, b: TaskRecord): number =>
  b.priority - a.priority || a.enqueuedAt - b.enqueuedAt || a.number - b.number

/** What orders a task among others at one instant. */
export interface Standing {
  readonly task: TaskRecord
  readonly rank: number
  readonly score: number
}
export const standingOf = ({ rank, scoreAt }: Policy, task: TaskRecord, at: number): Standing => ({ task, rank: rank(task, at), score: scoreAt(task, at) })
/** The same for a task with this key in a lane. Mostly it does not read the record, which may be anywhere in memory. */
export const standingIn = (policy: Policy, lane: number, key: number, task: TaskRecord, at: number): Standing => {
  const alike = policy.alikeIn(lane, key, at) ?? task
  return { task, rank: policy.rank(alike, at), score: policy.scoreAt(alike, at) }
}

/** Negative if `a` is served before `b`. */
export const byStanding = (a: Standing, b: Standing): number => b.rank - a.rank || b.score - a.score || byPriorityThenAge(a.task, b.task)

/** The tasks in the order in which they are served at this instant. */
export const inOrder = (policy: Policy, tasks: Iterable<TaskRecord>, at: number): ReadonlyArray<TaskRecord> =>
  Array.from(tasks, (task) => standingOf(policy, task, at)).sort(byStanding).map(({ task }) => task)

/** Starved tasks first; then by priority, then by score, then first in, first out. */
const priorityPolicy = (score: Score): Policy => ({
  ...common(score, (task, at) => ({
    lane: -(1 + task.priority * 4 + (score.isStarved(task, at) ? 2 : 0) + (isAgeing(score, task, at) ? 1 : 0)),
    byScore: true,
  })),
  rank: (task, at) => task.priority + (score.isStarved(task, at) ? starvedRank : 0),
  scoreAt: (task, at) => score.of(task, at),
})
/** Above the ranks of all priorities. */
const starvedRank = 16

/** By score with the floor of starved tasks, then by priority, then first in, first out. */
const scorePolicy = (score: Score): Policy => ({
  ...common(score, (task, at) =>
    isOnFloor(score, task, at)
      ? { lane: -(100 + task.priority), byScore: false }
      : { lane: -(1 + (isAgeing(score, task, at) ? 1 : 0)), byScore: true },
  ),
  rank: () => 0,
  scoreAt: (task, at) => score.floored(task, at),
})

const isAgeing = (score: Score, { enqueuedAt }: Scored, at: number): boolean => at - enqueuedAt < score.ageMs
const isOnFloor = (score: Score, task: TaskRecord, at: number): boolean => score.isStarved(task, at) && score.of(task, at) < score.floor

/** More than the highest band of a plain lane, 10 · 2 + 1, which late tasks of priority 10 have. */
const bands = 32

/** Scores are summed from the year 2020 on, to keep the sums small. */
const epoch = Date.UTC(2020, 0, 1)

/** `urgent`: the lane of a task within the urgency window, and whether that lane is ordered by score. */
const common = (
  score: Score,
  urgent: (task: TaskRecord, at: number) => { readonly lane: number; readonly byScore: boolean },
): Pick<Policy, 'score' | 'alikeIn' | 'plainLane' | 'urgentFrom' | 'urgentPlace'> => {
  // A small number for nearly all tasks: a map finds small integers faster than large ones such as bases.
  const lane = (task: TaskRecord, isLate: boolean): number => {
    const band = task.priority * 2 + (isLate ? 1 : 0)
    return score.hasPlainBase(task) ? band : bands * (score.base(task) + 1) + band
  }
  const urgentFrom = ({ extras: { deadlineAt = 0 } }: TaskRecord): number => deadlineAt - score.windowMs
  /** At any time the score minus a number that all tasks of the lane share, in units. The boost is left out, because all tasks of the lane have it. */
  const agedKey = (task: TaskRecord): number => score.deadlineRate * (urgentFrom(task) - epoch) - score.base(task)
  const ageingKey = (task: TaskRecord): number => agedKey(task) + score.ageRate * (task.enqueuedAt - epoch)
  return {
    score,
    alikeIn: (id, enqueuedAt, at) => {
      if (id < 0 || id >= bands) return undefined
      const isLate = id % 2 === 1
      // A late task's score does not depend on how late it is.
      return { priority: (id - (isLate ? 1 : 0)) / 2, retries: 0, maxRetries: 1, blocking: 0, enqueuedAt, extras: isLate ? { deadlineAt: at } : noExtras }
    },
    plainLane: (task) => lane(task, false),
    urgentFrom,
    urgentPlace: (task, at) => {
      const { deadlineAt = 0 } = task.extras
      if (at >= deadlineAt) return { lane: lane(task, true), key: enqueuedAtOf, until: Number.POSITIVE_INFINITY }
      const { lane: id, byScore } = urgent(task, at)
      const isYoung = isAgeing(score, task, at)
      const instants = [deadlineAt, task.enqueuedAt + score.ageMs, task.enqueuedAt + score.starvationMs + 1]
      const until = Math.min(...instants.filter((instant) => instant > at))
      if (!byScore) return { lane: id, key: enqueuedAtOf, until: firstAt(at, until, (instant) => !isOnFloor(score, task, instant)) }
      return { lane: id, key: isYoung ? ageingKey : agedKey, until }
    },
  }
}

/** The first instant after `from` and up to `until` at which it holds; `until` if there is none. From that instant on it must hold. */
const firstAt = (from: number, until: number, holds: (at: number) => boolean): number => {
  let low = from
  let high = until
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (holds(middle)) high = middle
    else low = middle
  }
  return high
}
