/**
 * When a snapshot is worth its cost, and of which kind it is. A start loads the last snapshot and replays the events since, so it takes about
 *
 *     loadUs · tasks + replayUs · events since
 *
 * A finished task costs only `loadFinishedUs`, because no record is made of it. One whose row is in a file costs `loadStoredUs`, because only the
 * indexes are filled.
 *
 * A snapshot costs `writeUs` for each task that is written, or `writeFinishedUs` for a finished one, whose bytes are copied. Rows in files are only
 * named. Each snapshot has the names of all groups and agents of finished tasks, for `writeNameUs` each. The work on the queue costs about `workUs` per
 * event. A snapshot is due when its cost is a tenth of the work since the last one; or, whatever its cost, when a start would take five and a half
 * seconds. If loading alone takes most of that time, a snapshot is due when replaying takes half as long as loading.
 *
 * An increment has only the tasks that changed since the last snapshot, so it is cheap when there are many tasks. But a start reads it and all on
 * which it is based, its series. When these have more than 1.5 times as many tasks as the queue, they are merged into a whole snapshot, which costs the
 * deciding thread nothing. While a queue fills up with a few million tasks, that is never so: the increments have the new tasks, and nothing is written
 * twice.
 */

/** Microseconds on the machine of `docs/performance.md`. A slower machine is slower in all of them. */
const loadUs = 2.5
const loadFinishedUs = 1.1
const loadStoredUs = 0.4
const replayUs = 3.5
const writeUs = 0.65
const writeFinishedUs = 0.3
const writeNameUs = 0.5
const workUs = 7

const workShareMax = 1 / 10
const startUsMax = 5.5e6
/** The least number of events between snapshots: fewer are replayed within a second, also by a new thread, whose code is not compiled yet. */
const eventsMin = 50_000
/** An increment counts as at least this share of the unfinished tasks, so that a series has at most 33 increments while a queue keeps its size. */
const seriesShareMin = 1 / 64

/** A series is merged when it has more than this many tasks for each of the queue. A start reads them all; a merge takes 2 s of CPU for a million. */
const seriesMax = 1.5

export interface SnapshotCost {
  /** Number of events since the last snapshot. */
  readonly events: number
  /** Number of tasks; `finished` of them are finished, and the rows of `stored` are in files. */
  readonly tasks: number
  readonly finished: number
  readonly stored: number
  /** Number of groups and agents of finished tasks. */
  readonly names: number
  /** How many tasks changed or finished since the last snapshot. `undefined`: it is not known, so there can be no increment. */
  readonly changed: number | undefined
  /** How many tasks the last snapshot and all on which it is based have together: see {@link inSeries}. */
  readonly inLast: number
}

/** How many tasks an increment and all on which it is based would have together. */
export const inSeries = ({ tasks, finished, changed = 0, inLast }: SnapshotCost): number =>
  inLast + Math.max(changed, Math.ceil((tasks - finished) * seriesShareMin))

/** Whether the next snapshot should be an increment: it would have no more tasks than a whole one. */
export const isIncrementBetter = ({ tasks, finished, changed }: SnapshotCost): boolean => changed !== undefined && changed <= tasks - finished

/** Whether a series with this many tasks should be merged into a whole snapshot. */
export const isMergeDue = ({ tasks, finished }: Pick<SnapshotCost, 'tasks' | 'finished'>, inSeries: number): boolean => inSeries > seriesMax * (tasks - finished)

export const isSnapshotDue = (cost: SnapshotCost): boolean => {
  const { events, tasks, finished, stored, names, changed = 0 } = cost
  if (events < eventsMin) return false
  const unfinished = tasks - finished
  const load = loadUs * unfinished + loadFinishedUs * (finished - stored) + loadStoredUs * stored
  const write = writeUs * (isIncrementBetter(cost) ? changed : unfinished) + writeFinishedUs * (finished - stored) + writeNameUs * names
  return write <= workUs * events * workShareMax || load + replayUs * events >= Math.max(startUsMax, load * 1.5)
}
