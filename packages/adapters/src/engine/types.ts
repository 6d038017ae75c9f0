/** The engine's interface for HTTP, the server side of the command line, and programs in the same process. */
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

/** The caller of a command: its name and its correlation id. */
export interface Caller {
  readonly actor: string
  readonly correlationId?: string
}

/** The caller of the queue's own commands. */
export const systemCaller: Caller = { actor: 'daybook' }

/** A refusal by the queue (`Rejection`), or by the engine for reasons that are independent of the command. */
export type Refusal =
  | Rejection
  | {
      /** After `outcome-unknown` the command may have taken effect: check, or repeat it if it is idempotent. After all other codes it has not. */
      readonly code: 'overloaded' | 'unavailable' | 'read-only' | 'clock' | 'outcome-unknown'
      readonly detail: string
      /** After how many seconds to try again. */
      readonly retryAfterSeconds: number
    }

export interface Answer<T> {
  readonly value: T
  /** The revision that the answer includes. It is durable when the answer is given. */
  readonly revision: number
}

export type Outcome<T> = Either<Refusal, Answer<T>>

/** A claimed task with its content and checkpoint. */
export type Claim = ClaimedTask

/** Events that have become durable, in order; `from` is the revision of the first. An unreadable event keeps its place. */
export type Committed = { readonly from: number } & CommittedEvents

/** Events of this process or of another. */
export type CommittedEvents =
  | { readonly isOwn: true; readonly events: ReadonlyArray<QueueEvent> }
  | { readonly isOwn: false; readonly events: ReadonlyArray<QueueEvent | Unreadable> }

export interface ClaimOptions {
  /** How long to wait for a task if there is none, in milliseconds. Default 0. */
  readonly waitMs?: number
  /** Ends the wait: the claim is answered without tasks, or with tasks that were found just before. */
  readonly signal?: AbortSignal
}

export interface EngineStatus {
  readonly queue: string
  readonly revision: number
  /** Why the queue was deleted; `null` after the next event. */
  readonly deleted: string | null
  /** Commands waiting to be decided. */
  readonly mailbox: number
  readonly appendsInFlight: number
  readonly waitingClaims: number
  /** Number of tasks whose end callers wait for. */
  readonly settledWaits: number
  /** Why commands are refused now; `undefined` if they are accepted. */
  readonly unavailable: string | undefined
  /** Why no command is accepted until this server is updated; `undefined` if commands are accepted. See `read-only.ts`. */
  readonly readOnly: string | undefined
  /** Why commands are refused because of this server's clock; `undefined` if they are accepted. See `checked-clock.ts`. */
  readonly clockRefusal: string | undefined
  /** How far the queue's time is ahead of this server's clock, in milliseconds; 0 if it is not. */
  readonly aheadMs: number
  /** Number of events in the log that this version could not read. */
  readonly unreadable: number
  readonly conflicts: number
  readonly snapshotRevision: number
  /** Characters of task contents kept in memory for claims. */
  readonly cachedContent: number
}

/** The answer to an erasure: the content of the task is gone. */
export interface Erased {
  readonly id: string
  readonly erased: true
}

/** One queue: the only writer of its stream in this process. */
export interface QueueEngine {
  readonly name: string

  /** Decides a command, appends its events, and answers once they are durable. Never rejects. */
  readonly submit: <C extends Command>(command: C, caller: Caller) => Promise<Outcome<Replies[C['type']]>>

  /** Submits many commands, each with its own outcome, in order. Cheaper than as many single calls. */
  readonly submitAll: (commands: ReadonlyArray<Command>, caller: Caller) => Promise<ReadonlyArray<Outcome<Replies[CommandType]>>>

  /** Deletes the keys of a finished task in an erasable queue, after the erasure was recorded in the log. Never rejects. */
  readonly erase: (task: string, reason: string, caller: Caller) => Promise<Outcome<Erased>>

  /** Claims tasks and joins their contents. Waits for tasks if asked to. A waiting claim is served in the append that brings a task. */
  readonly claim: (command: CommandOf<'Claim'>, caller: Caller, options?: ClaimOptions) => Promise<Outcome<ReadonlyArray<Claim>>>

  /**
   * Takes back tasks whose claim never reached the agent: no attempt is counted, and the agent is not barred. If that cannot be written, the tasks
   * become available when their leases end.
   */
  readonly takeBack: (claims: ReadonlyArray<Claim>, reason: string) => void

  /**
   * Queries the state. The query goes through the same mailbox as commands, so it sees everything that was submitted before, and it is answered only
   * when what it saw is durable: reads are linearizable. Rejects if the query throws. `at` is the queue's time, for everything that depends on time,
   * such as whether a finished task is still known.
   */
  readonly read: <A>(query: (state: QueueState, at: number) => A) => Promise<Outcome<A>>

  /** Waits until the queue has this revision, at most `waitMs`. False if it has not reached it by then. */
  readonly reached: (revision: number, waitMs: number) => Promise<boolean>

  /** Resolves when the task with this id becomes settled (finished, or a dead letter); at the latest after `waitMs`, or at the signal. */
  readonly nextSettled: (task: string, waitMs: number, signal?: AbortSignal) => Promise<void>

  /** JSON texts of `data` of the events at these revisions; `undefined` if there is no such event. */
  readonly contents: (revisions: ReadonlyArray<number>) => Promise<ReadonlyArray<string | undefined>>

  /** Everything that becomes durable from now on, whichever process appended it. Multicast; subscribers must be fast. */
  readonly committed: Observable<Committed>

  readonly status: () => EngineStatus

  /** Accepts no new commands, answers those in progress, and takes a snapshot. */
  readonly close: () => Promise<void>
}
