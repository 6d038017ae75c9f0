/**
 * When a snapshot is worth its cost. A start loads the last snapshot and replays the events since, so it takes about
 *
 *     loadUs · tasks + replayUs · events since
 *
 * A finished task costs only `loadFinishedUs`, because no record is made of it. One whose row is in a file costs `loadStoredUs`, because only the
 * indexes are filled.
 *
 * A snapshot costs `writeUs` for each task, or `writeFinishedUs` for a finished one, whose bytes are copied. Rows in files are only named. The work
 * on the queue costs about `workUs` per event. A snapshot is due when its cost is a twentieth of the work since the last one; or, whatever its cost,
 * when a start would take five and a half seconds. If loading alone takes most of that time, a snapshot is due when replaying takes half as long as
 * loading. (While a snapshot of a million tasks is being written, up to half a million more events must be replayed: two seconds more, in the worst
 * case.)
 */

/** Microseconds on the machine of `docs/performance.md`. A slower machine is slower in all of them. */
const loadUs = 2.5
const loadFinishedUs = 1.1
const loadStoredUs = 0.4
const replayUs = 3.5
const writeUs = 0.55
const writeFinishedUs = 0.3
const workUs = 7

const workShareMax = 1 / 20
const startUsMax = 5.5e6
/** The least number of events between snapshots: fewer are replayed within a second. */
const eventsMin = 250_000

/** `events`: number since the last snapshot. `tasks`: number in the next one; `finished` of them are finished, and the rows of `stored` are in files. */
export const isSnapshotDue = (events: number, tasks: number, finished: number, stored: number): boolean => {
  if (events < eventsMin) return false
  const load = loadUs * (tasks - finished) + loadFinishedUs * (finished - stored) + loadStoredUs * stored
  const write = writeUs * (tasks - finished) + writeFinishedUs * (finished - stored)
  return write <= workUs * events * workShareMax || load + replayUs * events >= Math.max(startUsMax, load * 1.5)
}
