/**
 * The schedules of a queue (INV-27): each enqueues its task whenever it is due. An event says when a schedule is due next, so the fold
 * computes nothing. Records are replaced as a whole and never changed.
 */
import type { Recurrence } from './recurrence.js'
import type { MissedRuns, OverlappingRuns, SkipReason } from '../model/schedule.js'
import { SortedList } from '../structures/sorted-list.js'
import type { ScheduledTask } from '../model/task-fields.js'
import { UndoMap } from '../structures/undo-map.js'

/** Number of schedules that a queue may have. */
export const schedulesMax = 1_000
/** The largest size of one schedule's task as JSON, and of all such tasks of a queue, in characters. They are in memory and in snapshots. */
export const scheduledTextMax = 65_536
export const scheduledTextsMax = 4_194_304

/** The outcome of an instant at which a schedule was due. Exactly one of `task`, `skipped` and `waits` is given. */
export interface PastRun {
  readonly dueAt: number
  /** When the outcome was decided. */
  readonly at: number
  /** Id of the task that was enqueued. */
  readonly task?: string
  readonly skipped?: SkipReason
  /** All instants from this one to `dueAt` were skipped. */
  readonly since?: number
  /** The run begins when the previous one has ended. */
  readonly waits?: true
}
/** Number of runs that are kept. The log has all runs. */
export const runsKept = 5

export interface Schedule {
  readonly name: string
  readonly rule: Recurrence
  readonly missed: MissedRuns
  readonly overlap: OverlappingRuns
  readonly paused: boolean
  readonly task: ScheduledTask
  /** Length of the task as JSON, in characters. */
  readonly size: number
  /** When the schedule is due next, even if that time has passed; `null` for never again. */
  readonly nextAt: number | null
  /** The newest task that the schedule enqueued. */
  readonly lastTask: string | null
  /** A run that waits for the end of a task; `after` is `null` once that has ended. */
  readonly held: { readonly dueAt: number; readonly after: string | null } | null
  /** The last runs, oldest first. */
  readonly runs: ReadonlyArray<PastRun>
}

/** When there is something to do; infinity for never. */
const actsAt = ({ paused, held, nextAt }: Schedule): number =>
  paused ? Number.POSITIVE_INFINITY : held?.after === null ? held.dueAt : (nextAt ?? Number.POSITIVE_INFINITY)

const byName = (a: Schedule, b: Schedule): number => (a.name < b.name ? -1 : 1)

export class Schedules extends UndoMap<Schedule> {
  /** The schedules that will have something to do, by time. */
  readonly due = new SortedList<Schedule>(actsAt, byName)
  /** By the id of a task: the schedule with a run that waits for the end of the task. */
  private readonly waiting = new Map<string, string>()
  /** Total length of all tasks as JSON, in characters. */
  textSize = 0

  protected override replaced(from: Schedule | undefined, to: Schedule | undefined): void {
    this.textSize += (to?.size ?? 0) - (from?.size ?? 0)
    if (from !== undefined && Number.isFinite(actsAt(from))) this.due.remove(from)
    if (typeof from?.held?.after === 'string') this.waiting.delete(from.held.after)
    if (to !== undefined && Number.isFinite(actsAt(to))) this.due.add(to)
    if (typeof to?.held?.after === 'string') this.waiting.set(to.held.after, to.name)
  }

  /** All schedules by name. */
  all(): ReadonlyArray<Schedule> {
    return [...this.values()].sort(byName)
  }

  /** Whether some run waits for the end of a task. */
  get isAnyWaiting(): boolean {
    return this.waiting.size > 0
  }

  /** The schedule with a run that waits for the end of this task. */
  waitingFor(task: string): Schedule | undefined {
    const name = this.waiting.get(task)
    return name === undefined ? undefined : this.get(name)
  }

  /** Adds the schedule, or replaces the one of the same name. */
  put(schedule: Schedule): void {
    this.set(schedule.name, schedule)
  }

  /** When the first schedule has something to do; `undefined` for never. */
  nextDue(): number | undefined {
    const first = this.due.first()
    return first === undefined ? undefined : actsAt(first)
  }
}
