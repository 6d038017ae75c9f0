/**
 * When a snapshot is worth what it costs. A start loads the last one and replays what came since, so it takes about
 *
 *     loadUs · tasks + replayUs · events since
 *
 * and a snapshot takes `writeUs · tasks` from the work on the queue, for which each event takes about `workUs`.
 * It is due once that is a twentieth of the work done since the last, or, however much it is, once a start would take
 * five and a half seconds; of so many tasks that loading them alone takes most of that, once replaying takes half as long as loading.
 * (While one of a million is being written, half a million events come to what a start replays: two seconds more, at the worst moment.)
 */

/** Microseconds on the machine of `docs/performance.md`; a slower one is slower in all of them. */
const loadUs = 2.5
const replayUs = 3.5
const writeUs = 0.55
const workUs = 7

const workShareMax = 1 / 20
const startUsMax = 5.5e6
/** Fewer are replayed in a second, and nobody notices. */
const eventsMin = 250_000

/** `events` since the last snapshot, `tasks` that the next would hold. */
export const isSnapshotDue = (events: number, tasks: number): boolean => {
  if (events < eventsMin) return false
  const load = loadUs * tasks
  return writeUs * tasks <= workUs * events * workShareMax || load + replayUs * events >= Math.max(startUsMax, load * 1.5)
}
