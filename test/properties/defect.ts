/** A system with one defect, and how to make one: with other events, another command, or another fold. */
import { type Command, decide, type Envelope, evolve, type QueueEvent, type QueueState, skip } from '@daybook/core'
import type { Invariant } from './checkers.js'
import { daybook, type System } from './world.js'

export type Events = ReadonlyArray<QueueEvent>
export interface Defect {
  readonly breaks: Invariant
  readonly by: string
  /** Makes a new system for each history. */
  readonly system: () => System
}

/** The decider with changed events. */
export const deciding = (change: (events: Events, state: QueueState, command: Command, envelope: Envelope) => Events): (() => System) => () => ({
  ...daybook,
  decide: (command, envelope) => (state) => {
    const decision = decide(command, envelope)(state)
    return decision._tag === 'Left' ? decision : { _tag: 'Right', right: change(decision.right, state, command, envelope) }
  },
})
/** The decider with a changed command. */
export const asked = (change: (command: Command, state: QueueState) => Command, back: (events: Events, command: Command) => Events): (() => System) => () => ({
  ...daybook,
  decide: (command, envelope) => (state) => {
    const decision = decide(change(command, state), envelope)(state)
    return decision._tag === 'Left' ? decision : { _tag: 'Right', right: back(decision.right, command) }
  },
})
/** The fold with a changed event, or none. */
export const folding = (change: (event: QueueEvent, state: QueueState) => QueueEvent | undefined): (() => System) => () => ({
  ...daybook,
  evolve: (state, event) => {
    const other = change(event, state)
    return other === undefined ? skip(state, event.type, { _tag: 'Unreadable', why: 'unknown type' }) : evolve(state, other)
  },
})
export const unchanged = (events: Events): Events => events
