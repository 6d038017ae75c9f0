/** Items of the mailbox, and batches of events that are appended together. */
import type { Command, CommandOf, CommandType, Mark, QueueEvent, QueueState, Replies } from '@daybook/core'
import type { AppendError, ChainHead, EventToAppend } from '../../store/index.js'
import { type Claim, type Caller, type Outcome, type Refusal, systemCaller } from '../types.js'

/** A command and its waiting caller. */
export interface CommandItem {
  readonly kind: 'command'
  readonly command: Command
  readonly caller: Caller
  readonly settle: (outcome: Outcome<Replies[CommandType]>) => void
  /** When it arrived, in the queue's time: see `lease-grace.ts`. */
  readonly arrivedAt: number
}

/** A claim that may wait for tasks. */
export interface ClaimItem {
  readonly kind: 'claim'
  readonly command: CommandOf<'Claim'>
  readonly caller: Caller
  readonly settle: (outcome: Outcome<ReadonlyArray<Claim>>) => void
  /** Whether it is no longer wanted: its caller has gone, or its time is over. */
  readonly isOver: () => boolean
  /** Tasks were found for it, at or after this time of `performance.now()`. */
  readonly take: (grantedAt: number) => void
  /** The tasks that were found for it were rolled back. */
  readonly untake: () => void
  readonly mayWait: boolean
  readonly arrivedAt: number
}

/** A query on the state. */
export interface ReadItem {
  readonly kind: 'read'
  readonly query: (state: QueueState, at: number) => unknown
  readonly settle: (outcome: Outcome<unknown>) => void
  /** The query threw. */
  readonly fail: (error: unknown) => void
  readonly arrivedAt: number
}

export type Item = CommandItem | ClaimItem | ReadItem

/** Whether it is a command of the engine itself. */
export const isOwn = (item: Item): boolean => item.kind !== 'read' && item.caller === systemCaller

/** A decided item, with the answer to give once it is durable. */
export interface Decided {
  readonly item: Item
  readonly answer: () => void
}

/** A decided item whose outcome is known. */
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
  mark: Mark
  /** The revision that the append expects. */
  readonly expected: number
  readonly events: Array<QueueEvent>
  readonly texts: Array<EventToAppend>
  /** An upper bound on the bytes of `texts`, computed only if it matters. */
  bytes: number
  readonly decided: Array<Decided>
  result: { readonly _tag: 'Appended'; readonly sealed: ChainHead } | AppendError | undefined
  /** Resolves when `result` is set. */
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
