/** What the engine offers to whoever drives it: HTTP, the command line's server side, a program in the same process. */
import type {
  ClaimedTask,
  Command,
  CommandOf,
  CommandType,
  QueueEvent,
  QueueState,
  Rejection,
  Replies,
  Unreadable,
} from '@daybook/core'
import type { Either } from 'fp-ts/lib/Either.js'
import type { Observable } from 'rxjs'

/** Through which caller a command comes: who, and in which correlation. */
export interface Caller {
  readonly actor: string
  readonly correlationId?: string
}

/** What the queue does by itself. */
export const systemCaller: Caller = { actor: 'daybook' }

/** A refusal by the queue (`Rejection`), or by the engine for reasons that have nothing to do with the command. */
export type Refusal =
  | Rejection
  | {
      /** After `outcome-unknown` the command may have happened: look, or repeat what is the same twice. After the others it has not. */
      readonly code: 'overloaded' | 'unavailable' | 'read-only' | 'clock' | 'outcome-unknown'
      readonly detail: string
      /** When to try again. */
      readonly retryAfterSeconds: number
    }

export interface Answer<T> {
  readonly value: T
  /** The revision that the answer shows: durable when the answer is given. */
  readonly revision: number
}

export type Outcome<T> = Either<Refusal, Answer<T>>

/** A claimed task, its content and checkpoint joined. */
export type Claim = ClaimedTask

/** Events that have become durable, in order; `from` is the revision of the first. What cannot be read keeps its place. */
export type Committed = { readonly from: number } & CommittedEvents

/** By this process, or by another. */
export type CommittedEvents =
  | { readonly isOwn: true; readonly events: ReadonlyArray<QueueEvent> }
  | { readonly isOwn: false; readonly events: ReadonlyArray<QueueEvent | Unreadable> }

export interface ClaimOptions {
  /** How long to wait for a task when there is none, in milliseconds. Default 0. */
  readonly waitMs?: number
  /** Gives up waiting: the claim is answered empty, and takes nothing; or, when work was found just before, with that. */
  readonly signal?: AbortSignal
}

export interface EngineStatus {
  readonly queue: string
  readonly revision: number
  /** Why the queue was deleted; `null` once anything has happened since. */
  readonly deleted: string | null
  /** Commands waiting to be decided. */
  readonly mailbox: number
  readonly appendsInFlight: number
  readonly waitingClaims: number
  /** Why commands are refused now; `undefined` when they are not. */
  readonly unavailable: string | undefined
  /** Why no command is taken until this server is updated; `undefined` when they are. See `read-only.ts`. */
  readonly readOnly: string | undefined
  /** Why no command is taken by this server's clock; `undefined` when they are. See `checked-clock.ts`. */
  readonly clockRefusal: string | undefined
  /** How far the queue's time is ahead of this server's clock, in milliseconds; 0 when it is not. */
  readonly aheadMs: number
  /** Events of the log that this version could not read. */
  readonly unreadable: number
  readonly conflicts: number
  readonly snapshotRevision: number
  /** Characters of task contents kept in memory for claims. */
  readonly cachedContent: number
}

/** One queue: the only writer of its stream in this process. */
export interface QueueEngine {
  readonly name: string

  /** Decides, appends, and answers once it is durable. Never rejects. */
  readonly submit: <C extends Command>(command: C, caller: Caller) => Promise<Outcome<Replies[C['type']]>>

  /** Many commands in one go, each with its own outcome, in order. Cheaper than as many single calls. */
  readonly submitAll: (commands: ReadonlyArray<Command>, caller: Caller) => Promise<ReadonlyArray<Outcome<Replies[CommandType]>>>

  /** Claims, joins the contents, and waits for work if asked to. A waiting claim is served in the append that brings the task. */
  readonly claim: (command: CommandOf<'Claim'>, caller: Caller, options?: ClaimOptions) => Promise<Outcome<ReadonlyArray<Claim>>>

  /**
   * Gives back what was claimed for somebody who never heard of it: no attempt, nobody is barred. Where that cannot
   * be written, the leases' end remains.
   */
  readonly takeBack: (claims: ReadonlyArray<Claim>, reason: string) => void

  /**
   * Asks the state. Goes through the same mailbox as commands, so it sees all that was submitted before,
   * and is answered only when what it saw is durable: reads are linearizable. Rejects when the query throws.
   * `at` is the queue's time then: what depends on it, as whether a finished task is still known, is asked for at that instant.
   */
  readonly read: <A>(query: (state: QueueState, at: number) => A) => Promise<Outcome<A>>

  /** Waits until the queue has this revision, at most `waitMs`. False when it has not by then. */
  readonly reached: (revision: number, waitMs: number) => Promise<boolean>

  /** JSON texts of `data` of the events at these revisions; `undefined` where there is none. */
  readonly contents: (revisions: ReadonlyArray<number>) => Promise<ReadonlyArray<string | undefined>>

  /** Everything that becomes durable from now on, by this process or another. Multicast; subscribers must be quick. */
  readonly committed: Observable<Committed>

  readonly status: () => EngineStatus

  /** Takes no new commands, answers those under way, leaves a snapshot. */
  readonly close: () => Promise<void>
}
