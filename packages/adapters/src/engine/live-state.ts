/**
 * The state of the queue, ahead of the log: decided events are folded at once, under a mark, and rolled back if
 * the append fails. Each step consumes the state, so nobody may keep a reference: ask for `current` each time.
 */
import { evolve, forget, type Mark, mark, type QueueEvent, type QueueState, release, revisionOf, rollback, type Unreadable } from '@daybook/core'
import type { Chain, ChainHead, ChainMark } from '../chain/index.js'
import type { EventToAppend, RecordedEvent } from '../store/index.js'
import { foldRecorded } from './replay.js'

/** A point to go back to. */
export interface LiveMark {
  readonly state: Mark
  readonly chain: ChainMark
}

export class LiveState {
  constructor(
    private state: QueueState,
    private readonly chain: Chain,
  ) {}

  get current(): QueueState {
    return this.state
  }

  get revision(): number {
    return revisionOf(this.state)
  }

  /** The last seal of the log, with the appends in flight. */
  get sealed(): ChainHead | undefined {
    return this.chain.head
  }

  /** Seals the texts of an append after the event at `expected`. */
  seal(texts: Array<EventToAppend>, expected: number): void {
    this.chain.seal(texts, expected)
  }

  evolve(event: QueueEvent): void {
    this.state = evolve(this.state, event)
  }

  /** Folds recorded events of others and returns them decoded. `onEvent` is called before each is folded. */
  foldRecorded(
    recorded: ReadonlyArray<RecordedEvent>,
    onEvent: (event: QueueEvent | Unreadable, before: QueueState) => void,
  ): ReadonlyArray<QueueEvent | Unreadable> {
    const events: Array<QueueEvent | Unreadable> = []
    this.state = foldRecorded(this.state, recorded, (event, before) => {
      onEvent(event, before)
      events.push(event)
    })
    this.chain.take(recorded)
    return events
  }

  /** Removes tasks whose retention is over at `at`, `max` at most. */
  forget(at: number, max: number): void {
    this.state = forget(this.state, at, max)
  }

  mark(): LiveMark {
    return { state: mark(this.state), chain: this.chain.mark() }
  }

  release(point: LiveMark): void {
    release(this.state, point.state)
  }

  rollback(point: LiveMark): void {
    this.state = rollback(this.state, point.state)
    this.chain.rollback(point.chain)
  }
}
