/** INV-27 from a log alone: the runs of a schedule that makes up for all missed runs and lets them overlap. */
import type { LogEntry } from './audit.js'

/**
 * The instants at which the schedule ran, each `stepMs` after the previous one.
 *
 * @throws Error if an instant is missing, repeated or out of order, or if a run does not have exactly one task.
 */
export const runsIn = (log: ReadonlyArray<LogEntry>, name: string, stepMs: number): ReadonlyArray<number> => {
  const events = log.flatMap(({ event }) => ('_tag' in event ? [] : [event]))
  const ran = events.flatMap((event) => (event.type === 'ScheduleRan' && event.data.name === name ? [event.data] : []))
  const enqueued = events.flatMap((event) => (event.type === 'TaskEnqueued' && event.data.task.startsWith(`${name}@`) ? [event.data.task] : []))
  ran.forEach(({ dueAt, task }, i) => {
    const before = ran[i - 1]?.dueAt
    if (before !== undefined && dueAt !== before + stepMs) throw new Error(`INV-27: ${name} ran at ${dueAt}, ${dueAt - before} ms after the run before`)
    const count = enqueued.filter((id) => id === task).length
    if (count !== 1) throw new Error(`INV-27: ${count} tasks of the run at ${dueAt}`)
  })
  if (enqueued.length !== ran.length) throw new Error(`INV-27: ${enqueued.length} tasks of ${ran.length} runs`)
  return ran.map(({ dueAt }) => dueAt)
}
