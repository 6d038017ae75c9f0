/**
 * When a snapshot is worth what it costs. A start loads the last one and replays what came since, so it takes about
 *
 *     loadUs · tasks + replayUs · events since
 *
 * and a snapshot takes `writeUs · tasks` from the work on the queue, for which each event takes about `workUs`.
 * It is due once that is a twentieth of the work done since the last, or, however much it is, once a start would take
 * five seconds; of so many tasks that to load them alone takes longer than that, once replaying takes half as long as loading.
 */

/** Microseconds of the deciding thread, on the machine of `docs/performance.md`; a slower one is slower in all of them. */
const loadUs = 3
const replayUs = 4
const writeUs = 0.55
const workUs = 7

const workShareMax = 1 / 20
const startUsMax = 5e6
/** Fewer are replayed in a second, and nobody notices. */
const eventsMin = 250_000

/** `events` since the last snapshot, `tasks` that the next would hold. */
export const isSnapshotDue = (events: number, tasks: number): boolean => {
  if (events < eventsMin) return false
  const load = loadUs * tasks
  return writeUs * tasks <= workUs * events * workShareMax || load + replayUs * events >= Math.max(startUsMax, load * 1.5)
}
