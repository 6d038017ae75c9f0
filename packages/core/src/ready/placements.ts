/**
 * The lane in which each ready task belongs (`policy.ts`). It follows from the fields of the task until the urgency window of its deadline begins.
 * From then on it changes with time, so the placement of the task is kept, together with the time until which it is right.
 */
import { CalendarQueue } from '../structures/calendar-queue.js'
import { SortedList } from '../structures/sorted-list.js'
import type { Head, TaskRecord } from '../records/records.js'
import type { UndoLog } from '../structures/undo-log.js'
import { enqueuedAtOf, type Place, type Policy } from './policy.js'

interface Placement extends Place {
  readonly task: TaskRecord
  /** The time for which the task was placed. */
  readonly at: number
}

export class Placements {
  /** Tasks whose urgency window has not begun, by its beginning. */
  private readonly waiting = new CalendarQueue<TaskRecord>((task) => this.policy.urgentFrom(task), (a, b) => a.number - b.number)
  /** The placements of all other tasks with a deadline. */
  private readonly byTask = new Map<TaskRecord, Placement>()
  /** The placements that will become wrong, by the time when they do. */
  private readonly byEnd = new SortedList<Placement>(({ until }) => until, (a, b) => a.task.number - b.task.number)
  /** Placements since the oldest mark, and some earlier ones. A rollback may go back before their time. */
  private recent: Array<Placement> = []

  constructor(
    private readonly head: Readonly<Head>,
    private readonly undoLog: UndoLog,
    public policy: Policy,
  ) {}

  /** The lane of a ready task. */
  laneOf(task: TaskRecord): number {
    return this.placementOf(task)?.lane ?? this.policy.plainLane(task)
  }

  /** The key that orders its lane. */
  keyOf(task: TaskRecord): (task: TaskRecord) => number {
    return this.placementOf(task)?.key ?? enqueuedAtOf
  }

  /** Places a task that has become ready, for the time `at`. */
  add(task: TaskRecord, at = this.head.at): void {
    if (task.extras.deadlineAt === undefined) return
    if (this.isEarly(task, at)) return this.waiting.add(task)
    const placement = { task, at, ...this.policy.urgentPlace(task, at) }
    this.byTask.set(task, placement)
    if (placement.until !== Number.POSITIVE_INFINITY) this.byEnd.add(placement)
    if (!this.undoLog.isRecording) this.recent = []
    // In a busy queue there is always a mark, so the list must be thinned out here.
    else if (this.recent.push(placement) > 2 * this.byTask.size + 64) this.recent = this.recent.filter((one) => this.byTask.get(one.task) === one)
  }

  /** Places all ready tasks at once. There must be none yet. */
  fill(tasks: ReadonlyArray<TaskRecord>): void {
    const early: Array<TaskRecord> = []
    for (const task of tasks) {
      if (this.isEarly(task, this.head.at)) early.push(task)
      else this.add(task)
    }
    this.waiting.fill(early)
  }

  remove(task: TaskRecord): void {
    if (task.extras.deadlineAt === undefined) return
    const placement = this.byTask.get(task)
    if (placement === undefined) return this.waiting.remove(task)
    this.byTask.delete(task)
    if (placement.until !== Number.POSITIVE_INFINITY) this.byEnd.remove(placement)
  }

  /** Tasks whose lane is wrong at `at`, because time has passed since they were placed. Mostly none. */
  misplacedAt(at: number): ReadonlyArray<TaskRecord> {
    if ((this.nextMisplaced ?? Number.POSITIVE_INFINITY) > at) return none
    const tasks = [...this.waiting.until(at)]
    for (const { task, until } of this.byEnd) {
      if (until > at) break
      tasks.push(task)
    }
    return tasks
  }

  /** When the next task will be in the wrong lane; `undefined` for never. */
  get nextMisplaced(): number | undefined {
    const [waiting, placed] = [this.waiting.first(), this.byEnd.first()]
    const from = waiting === undefined ? undefined : this.policy.urgentFrom(waiting)
    if (from === undefined || placed === undefined) return from ?? placed?.until
    return Math.min(from, placed.until)
  }

  /** A task that is in a wrong lane at `at`. */
  firstMisplaced(at: number): TaskRecord | undefined {
    const [waiting, placed] = [this.waiting.first(), this.byEnd.first()]
    if (waiting !== undefined && this.policy.urgentFrom(waiting) <= at) return waiting
    return placed !== undefined && placed.until <= at ? placed.task : undefined
  }

  /** After a rollback: the tasks that were placed for a later time than the last event. The others stay in the list. */
  takeUntimely(): ReadonlyArray<TaskRecord> {
    const recent = this.recent.filter((placement) => this.byTask.get(placement.task) === placement)
    const isUntimely = ({ at }: Placement): boolean => at > this.head.at
    this.recent = recent.filter((placement) => !isUntimely(placement))
    return recent.filter(isUntimely).map(({ task }) => task)
  }

  /** Number of placements that a rollback would look at. */
  get kept(): number {
    return this.recent.length
  }

  /** Whether the task has a deadline whose urgency window has not begun. */
  private isEarly(task: TaskRecord, at: number): boolean {
    return task.extras.deadlineAt !== undefined && at < this.policy.urgentFrom(task)
  }

  private placementOf(task: TaskRecord): Placement | undefined {
    return task.extras.deadlineAt === undefined ? undefined : this.byTask.get(task)
  }
}
const none: ReadonlyArray<never> = []
