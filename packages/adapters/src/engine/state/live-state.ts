/**
 * The state of the queue, ahead of the log. Decided events are folded at once, under a mark, and rolled back if the append fails. Each step consumes
 * the state, so nobody may keep a reference: read `current` each time.
 */
import { evolve, forget, isUnreadable, type Mark, mark, type QueueEvent, type QueueState, release, revisionOf, rollback, settle, type Unreadable } from '@daybook/core'
import type { Chain } from '../../seals/index.js'
import type { RecordedEvent } from '../../store/index.js'
import { foldRecorded } from './replay.js'

export class LiveState {
  /** Agents that have registered since {@link takeRegistered}. */
  private readonly registered = new Set<string>()

  constructor(
    private state: QueueState,
    /** The chain of the log, without batches in flight. */
    readonly chain: Chain,
  ) {}

  get current(): QueueState {
    return this.state
  }

  get revision(): number {
    return revisionOf(this.state)
  }

  evolve(event: QueueEvent): void {
    this.note(event)
    this.state = evolve(this.state, event)
  }

  /** Folds recorded events of other writers and returns them decoded. `onEvent` is called before each is folded. */
  foldRecorded(
    recorded: ReadonlyArray<RecordedEvent>,
    onEvent: (event: QueueEvent | Unreadable, before: QueueState) => void,
  ): ReadonlyArray<QueueEvent | Unreadable> {
    const events: Array<QueueEvent | Unreadable> = []
    this.state = foldRecorded(this.state, recorded, (event, before) => {
      onEvent(event, before)
      if (!isUnreadable(event)) this.note(event)
      events.push(event)
    })
    this.chain.take(recorded)
    return events
  }

  /** The agents that have registered since the last call, here or through another server. */
  takeRegistered(): ReadonlyArray<string> {
    if (this.registered.size === 0) return none
    const agents = [...this.registered]
    this.registered.clear()
    return agents
  }

  /** Evicts tasks whose retention is over at `at`, at most `max`. */
  forget(at: number, max: number): void {
    this.state = forget(this.state, at, max)
  }

  /** Moves ready tasks to the lanes in which they belong at `at`, at most `max`. */
  settle(at: number, max: number): void {
    this.state = settle(this.state, at, max)
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

  private note(event: QueueEvent): void {
    if (event.type === 'AgentRegistered') this.registered.add(event.data.agent)
  }
}
const none: ReadonlyArray<never> = []
