/**
 * The state of the queue, ahead of the log: what is decided is folded at once, under a mark, and rolled back if
 * the log does not take it. A step consumes the state, so it has one holder: ask for `current` each time.
 */
import { evolve, forget, type Mark, mark, type QueueEvent, type QueueState, release, revisionOf, rollback, type Unreadable } from '@daybook/core'
import type { RecordedEvent } from '../store/index.js'
import { foldRecorded } from './replay.js'

export class LiveState {
  constructor(private state: QueueState) {}

  get current(): QueueState {
    return this.state
  }

  get revision(): number {
    return revisionOf(this.state)
  }

  evolve(event: QueueEvent): void {
    this.state = evolve(this.state, event)
  }

  /** Folds what others have appended, and returns it as events. `onEvent` is called before each of them is folded. */
  foldRecorded(
    recorded: ReadonlyArray<RecordedEvent>,
    onEvent: (event: QueueEvent | Unreadable, before: QueueState) => void,
  ): ReadonlyArray<QueueEvent | Unreadable> {
    const events: Array<QueueEvent | Unreadable> = []
    this.state = foldRecorded(this.state, recorded, (event, before) => {
      onEvent(event, before)
      events.push(event)
    })
    return events
  }

  /** What is no longer known at `at` leaves, `max` tasks at most. */
  forget(at: number, max: number): void {
    this.state = forget(this.state, at, max)
  }

  mark(): Mark {
    return mark(this.state)
  }

  release(point: Mark): void {
    release(this.state, point)
  }

  rollback(point: Mark): void {
    this.state = rollback(this.state, point)
  }
}
