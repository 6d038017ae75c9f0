/** What a log tells of a period: which tasks arrived, how their attempts went, which agents were present, and what people did. */
import type { Command, CommandOf, DataOf, ExpiryCause, Failure, QueueEvent, QueueState, Settings } from '@daybook/core'

/** How an attempt went, as far as it does not depend on when it began. */
export interface Attempt {
  /** Milliseconds from the claim to its end. If it had not ended: to the end of the period. */
  readonly ms: number
  readonly end:
    | { readonly type: 'completed' }
    | { readonly type: 'failed'; readonly error: Failure; readonly retryable: boolean }
    /** The lease ended without a report. */
    | { readonly type: 'silent'; readonly cause: ExpiryCause }
    | { readonly type: 'released' | 'returned'; readonly reason: string }
    | { readonly type: 'parked'; readonly park: Pick<CommandOf<'Park'>, 'callbackKey' | 'timeoutSeconds' | 'onTimeout'>; /** `undefined` if no callback came. */ readonly callbackAfterMs: number | undefined }
    | { readonly type: 'cancelled'; readonly reason: string }
    /** The attempt had not ended. */
    | { readonly type: 'unknown' }
  /** Randomness for the jitter of its retry, in [0, 1). */
  readonly random: number
}

/** A claim that had not ended when the period began. */
export interface Held {
  readonly agent: string
  readonly token: number
  readonly claimedAt: number
  readonly expiresAt: number
  /** Length of one lease without a heartbeat. */
  readonly leaseMs: number
}

export interface RecordedTask {
  readonly facts: DataOf<'TaskEnqueued'>
  /** When it was enqueued, in milliseconds since 1970. */
  readonly at: number
  /** The task whose completion spawned this one. */
  readonly parent: string | undefined
  /** The fields whose values are the defaults of the settings. Other settings change them. */
  readonly defaults: ReadonlyArray<'timeout' | 'maxRetries' | 'backoffSeconds'>
  /** The task's state when the period began; `undefined` for a task that arrived in it. `isBegun`: it had been claimed before. */
  readonly before: { readonly isBegun: boolean; readonly now: 'ready' | 'delayed' | 'running' | 'dead'; readonly held: Held | undefined } | undefined
  /** The attempts that ended in the period or were under way at its end, in order. */
  readonly attempts: ReadonlyArray<Attempt>
}

/** What an agent asks for. */
export type Abilities = Pick<CommandOf<'RegisterAgent'>, 'types' | 'phases' | 'skills' | 'tenant' | 'maxTasks'>

/** The agent comes, goes or registers. Signs are in the order of the log. */
export interface Sign {
  readonly at: number
  readonly isThere?: boolean
  /** Only of an agent that was present when the period began: when it was last heard of. The agent that has waited longest is served first. */
  readonly since?: number
  readonly registers?: CommandOf<'RegisterAgent'>
}

export interface RecordedAgent {
  readonly name: string
  readonly abilities: Abilities
  /** The largest number of tasks that it had at a time. */
  readonly concurrency: number
  readonly signs: ReadonlyArray<Sign>
}

/** An action of somebody other than an agent or the queue. */
export interface Input {
  readonly at: number
  readonly command: Command
}

/** Indexes of tasks that arrived together. */
export interface Arrivals {
  readonly at: number
  readonly tasks: ReadonlyArray<number>
}

export interface Recording {
  readonly from: number
  /** The first millisecond after the period. */
  readonly until: number
  /** The state when the period began. It is forked for each run. */
  readonly start: QueueState
  /** The settings at the end of the period. */
  readonly settings: Settings
  readonly events: ReadonlyArray<QueueEvent>
  /** The tasks that were unfinished when the period began, and those that arrived, in the order of the log. */
  readonly tasks: ReadonlyArray<RecordedTask>
  readonly agents: ReadonlyArray<RecordedAgent>
  /** Actions and arrivals in the order of the log. Tasks that a completion spawned are not among the arrivals. */
  readonly inputs: ReadonlyArray<Input | Arrivals>
  /** Number of events that the model ignores, by reason. */
  readonly left: Readonly<Record<string, number>>
}
