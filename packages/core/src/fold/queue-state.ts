/**
 * The state as an opaque handle for single use. `evolve` consumes the state it is given and returns the next one. To callers that keep this rule the
 * core is pure.
 *
 * In debug mode (in all tests) every step returns a new handle, and using an old one throws.
 */
import { apply, applyGap, applyUnreadable } from './evolve.js'
import type { QueueEvent } from '../model/events.js'
import type { RowStore } from '../rows/row-store.js'
import type { Mark } from '../structures/undo-log.js'
import { evictForgotten } from '../state/retention.js'
import { Tables } from '../state/tables.js'
import type { Unreadable } from '../model/upcast.js'

export class QueueState {
  private consumed = false
  private constructor(private readonly tables: Tables) {}

  static of(tables: Tables): QueueState {
    return new QueueState(tables)
  }

  /** Only for the core: the records behind the handle. */
  static tablesOf(state: QueueState): Tables {
    if (state.consumed) throw new Error('this state was consumed by evolve or rollback: use the one they returned')
    return state.tables
  }

  /** @internal */
  static step(state: QueueState): QueueState {
    if (!poisoning) return state
    state.consumed = true
    return new QueueState(state.tables)
  }
}

let poisoning = false
/** Turns debug mode on or off. In debug mode a consumed state throws when it is used again. */
export const poisonConsumedStates = (on: boolean): void => {
  poisoning = on
}

/**
 * The state of an empty queue. `seed`: a random 32-bit integer for the hash index (see `text-index.ts`). `store`: where rows of finished tasks may be
 * kept; default: in memory. No result depends on these.
 */
export const initial = (queue: string, seed = 0, store?: RowStore): QueueState => QueueState.of(new Tables(queue, seed, store))

/**
 * Prepares an empty state for the replay of a log. Consumes `state`. Until {@link endReplay} the order of ready tasks is not kept, so events fold
 * faster. A claim restores it. A question that depends on it goes over all ready tasks, or restores it if there were three before.
 */
export const beginReplay = (state: QueueState): QueueState => {
  QueueState.tablesOf(state).ready.putAside()
  return QueueState.step(state)
}

/**
 * Puts the ready tasks in order before anybody waits for a claim. Consumes `state`. Without {@link beginReplay} it does nothing. Cost: O(n log n) of
 * the ready tasks.
 */
export const endReplay = (state: QueueState): QueueState => {
  QueueState.tablesOf(state).ready.order()
  return QueueState.step(state)
}

/** Folds one event. Consumes `state`. */
export const evolve = (state: QueueState, event: QueueEvent): QueueState => {
  apply(QueueState.tablesOf(state), event)
  return QueueState.step(state)
}

/** Goes on to `revision` without the events up to there, for a part of a log. Consumes `state`. */
export const passOver = (state: QueueState, revision: number): QueueState => {
  applyGap(QueueState.tablesOf(state), revision)
  return QueueState.step(state)
}

/** Counts an event that cannot be read (EV-11). Consumes `state`. */
export const skip = (state: QueueState, type: string, event: Unreadable): QueueState => {
  applyUnreadable(QueueState.tablesOf(state), type, event)
  return QueueState.step(state)
}

/**
 * Removes finished tasks whose retention is over at `at`, the longest finished first, and does the work of {@link settle}. At most `max` tasks of
 * each. It frees memory in an idle queue. `at` must not be later than the time of later decisions. Consumes `state`.
 */
export const forget = (state: QueueState, at: number, max: number): QueueState => {
  evictForgotten(QueueState.tablesOf(state), at, max)
  return settle(state, at, max)
}

/**
 * Moves ready tasks to the lanes in which they belong at `at`, at most `max`. No decision and no view depends on this, so it is not an event. Without
 * it, a claim looks at each task that is in a wrong lane; a move costs as much as two such looks. `at` must not be later than the time of later
 * decisions. Consumes `state`.
 */
export const settle = (state: QueueState, at: number, max: number): QueueState => {
  QueueState.tablesOf(state).ready.settle(max, at)
  return QueueState.step(state)
}

/** Sets a mark to which the state can be rolled back. Marks are released in the order in which they were set. */
export const mark = (state: QueueState): Mark => QueueState.tablesOf(state).undoLog.mark()

/** Drops the oldest mark. */
export const release = (state: QueueState, point: Mark): void => QueueState.tablesOf(state).undoLog.release(point)

/** Rolls the state back to the mark. Consumes `state`. Removes the mark and later ones. */
export const rollback = (state: QueueState, point: Mark): QueueState => {
  const tables = QueueState.tablesOf(state)
  tables.undoLog.rollback(point)
  tables.ready.rolledBack()
  return QueueState.step(state)
}
