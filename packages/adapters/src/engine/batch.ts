/** What waits in the mailbox, and what goes to the log together. */
import type { Command, CommandOf, CommandType, Mark, QueueEvent, QueueState, Replies } from '@daybook/core'
import type { AppendError, EventToAppend } from '../store/index.js'
import type { Claim, Caller, Outcome, Refusal } from './types.js'

/** A command and whoever waits for its outcome. */
export interface CommandItem {
  readonly kind: 'command'
  readonly command: Command
  readonly caller: Caller
  readonly settle: (outcome: Outcome<Replies[CommandType]>) => void
  /** When it came, by the queue's time: see `lease-grace.ts`. */
  readonly arrivedAt: number
}

/** A claim that may wait for work. */
export interface ClaimItem {
  readonly kind: 'claim'
  readonly command: CommandOf<'Claim'>
  readonly caller: Caller
  readonly settle: (outcome: Outcome<ReadonlyArray<Claim>>) => void
  /** No longer wanted: its caller has gone, or has waited long enough. */
  readonly isOver: () => boolean
  /** Work was found for it, at this time or later by `performance.now()`. */
  readonly take: (grantedAt: number) => void
  /** The work that was found for it did not come to be. */
  readonly untake: () => void
  readonly mayWait: boolean
  readonly arrivedAt: number
}

/** A question to the state. */
export interface ReadItem {
  readonly kind: 'read'
  readonly query: (state: QueueState, at: number) => unknown
  readonly settle: (outcome: Outcome<unknown>) => void
  /** The query threw. */
  readonly fail: (error: unknown) => void
  readonly arrivedAt: number
}

export type Item = CommandItem | ClaimItem | ReadItem

/** An item that has been decided on, with what to tell once it is durable. */
export interface Decided {
  readonly item: Item
  readonly answer: () => void
}

/** One whose outcome is known. */
export class Known<A> implements Decided {
  constructor(
    readonly item: Item & { readonly settle: (outcome: Outcome<A>) => void },
    private readonly outcome: Outcome<A>,
  ) {}

  answer(): void {
    this.item.settle(this.outcome)
  }
}

export interface Batch {
  /** The state before this batch. */
  readonly mark: Mark
  /** The revision that the log must have when it is appended. */
  readonly expected: number
  readonly events: Array<QueueEvent>
  readonly texts: Array<EventToAppend>
  /** Of `texts` at most: measured when it matters. */
  bytes: number
  readonly decided: Array<Decided>
  result: { readonly _tag: 'Appended' } | AppendError | undefined
  /** Resolves when `result` is there. */
  whenDone: Promise<void> | undefined
}

export const newBatch = (mark: Mark, expected: number): Batch => ({
  mark,
  expected,
  events: [],
  texts: [],
  bytes: 0,
  decided: [],
  result: undefined,
  whenDone: undefined,
})

export const answer = (decided: ReadonlyArray<Decided>): void => {
  for (const one of decided) one.answer()
}

export const refuse = (item: Item, refusal: Refusal): void => item.settle({ _tag: 'Left', left: refusal })
