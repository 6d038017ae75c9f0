/**
 * One state of a queue that moves between revisions: forward, event by event, and back over the last events, for which it keeps an undo log. So
 * stepping through time costs only the events between the steps, in both directions.
 */
import { type Mark, mark, type QueueEvent, type QueueState, release, revisionOf, rollback, taskCount, type Unreadable } from '@daybook/core'
import { foldRecorded } from '../engine/state/replay.js'
import type { RecordedEvent } from '../store/index.js'

/** About the largest number of marks to which a state can go back. From there events are folded again. */
const marksMax = 512
/** The undo of an event takes this share of the memory of a task, and of the time of folding an event. */
const tasksPerUndo = 0.4
const foldsPerUndo = 0.5

/** Called with each event before it is folded. `before` must not be kept. */
export type OnEvent = (recorded: RecordedEvent, event: QueueEvent | Unreadable, before: QueueState) => void

export class PastState {
  /** Oldest first. */
  private readonly marks: Array<{ readonly revision: number; readonly mark: Mark }> = []

  private readonly eventsPerMark: number

  /** `backEvents`: number of events that can be undone. */
  constructor(
    readonly queue: string,
    private current: QueueState,
    private readonly backEvents: number,
  ) {
    this.eventsPerMark = Math.ceil(backEvents / marksMax)
  }

  /** Consumed by the next move. */
  get state(): QueueState {
    return this.current
  }

  get revision(): number {
    return revisionOf(this.current)
  }

  /** Memory that it takes, in units of one task. */
  get size(): number {
    return taskCount(this.current) + tasksPerUndo * (this.revision - (this.marks[0]?.revision ?? this.revision))
  }

  /** The cost of moving to a revision, in units of one folded event; infinity if it is too far back. */
  distanceTo(revision: number): number {
    if (revision >= this.revision) return revision - this.revision
    const from = this.marks.findLast((each) => each.revision <= revision)
    return from === undefined ? Number.POSITIVE_INFINITY : foldsPerUndo * (this.revision - from.revision) + revision - from.revision
  }

  /** Undoes the events after the last mark that is not later than `revision`. Does nothing for a later revision. */
  back(revision: number): void {
    if (revision >= this.revision) return
    const index = this.marks.findLastIndex((each) => each.revision <= revision)
    const from = this.marks[index]
    if (from === undefined) throw new RangeError(`revision ${revision} is too far back from ${this.revision}`)
    this.marks.length = index
    this.current = rollback(this.current, from.mark)
  }

  /** Folds the next events. `left`: how many will come after them. */
  fold(events: ReadonlyArray<RecordedEvent>, left: number, onEvent: OnEvent): void {
    const { eventsPerMark } = this
    for (let from = 0; from < events.length; from += eventsPerMark) {
      this.setMarks(events.length - from + left)
      let index = from
      this.current = foldRecorded(this.current, events.slice(from, from + eventsPerMark), (event, before) => onEvent(events[index++] as RecordedEvent, event, before))
    }
  }

  /** While many events are still to come, no mark is set, because it would be too far back in the end. */
  private setMarks(toCome: number): void {
    const { marks, revision, backEvents, eventsPerMark } = this
    const reach = revision + toCome - backEvents
    // The mark before the first useful one is useful as well.
    while (marks[0] !== undefined && (marks[1]?.revision ?? revision) <= reach) {
      release(this.current, marks[0].mark)
      marks.shift()
    }
    const last = marks[marks.length - 1]?.revision ?? Number.NEGATIVE_INFINITY
    if (revision >= reach && revision - last >= eventsPerMark) marks.push({ revision, mark: mark(this.current) })
  }
}
