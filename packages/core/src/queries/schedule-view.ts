/** Schedules as callers see them. */
import { upcoming } from '../state/recurrence.js'
import { QueueState } from '../fold/queue-state.js'
import type { PastRun, Schedule } from '../state/schedules.js'
import type { MissedRuns, OverlappingRuns } from '../model/schedule.js'
import type { ScheduledTask } from '../model/task-fields.js'

export interface ScheduleView {
  readonly name: string
  /** Exactly one of `cron` and `every` (seconds) is given. */
  readonly cron?: string
  readonly every?: number
  readonly timeZone: string
  readonly missed: MissedRuns
  readonly overlap: OverlappingRuns
  readonly paused: boolean
  readonly task: ScheduledTask
  /** The next runs, earliest first, in milliseconds since 1970. Empty while the schedule is paused. */
  readonly next: ReadonlyArray<number>
  /** The last runs, newest first. */
  readonly last: ReadonlyArray<PastRun>
}

const nextShown = 5

/** `nextMax`: how many next runs to compute. Each but the first takes a tenth of a millisecond. */
export const viewOfSchedule = (schedule: Schedule, nextMax = nextShown): ScheduleView => {
  const { name, rule, missed, overlap, paused, task, nextAt, runs } = schedule
  return { name, ...rule, missed, overlap, paused, task, next: paused || nextAt === null ? [] : upcoming(rule, nextAt, nextMax), last: runs.toReversed() }
}

/** All schedules by name, each with its next run only. */
export const schedulesOf = (state: QueueState): ReadonlyArray<ScheduleView> =>
  QueueState.tablesOf(state).schedules.all().map((schedule) => viewOfSchedule(schedule, 1))

/** The schedule with this name; `undefined` if there is none. */
export const scheduleOf = (state: QueueState, name: string): ScheduleView | undefined => {
  const schedule = QueueState.tablesOf(state).schedules.get(name)
  return schedule === undefined ? undefined : viewOfSchedule(schedule)
}
