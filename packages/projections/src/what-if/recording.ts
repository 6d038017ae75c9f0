/** What a log tells of a period: which tasks came, how their attempts went, who was there, and what people did. */
import type { Command, CommandOf, DataOf, ExpiryCause, Failure, QueueEvent, QueueState, Settings } from '@daybook/core'

/** How an attempt went, as far as it does not depend on when it began. */
export interface Attempt {
  /** From its claim to its end; of one that had not ended, to the end of the period. */
  readonly ms: number
  readonly end:
    | { readonly type: 'completed' }
    | { readonly type: 'failed'; readonly error: Failure; readonly retryable: boolean }
    /** The lease ended without a report. */
    | { readonly type: 'silent'; readonly cause: ExpiryCause }
    | { readonly type: 'released' | 'returned'; readonly reason: string }
    | { readonly type: 'parked'; readonly park: Pick<CommandOf<'Park'>, 'callbackKey' | 'timeoutSeconds' | 'onTimeout'>; /** `undefined` if no callback came. */ readonly callbackAfterMs: number | undefined }
    | { readonly type: 'cancelled'; readonly reason: string }
    /** It had not ended. */
    | { readonly type: 'unknown' }
  /** In [0, 1): for the jitter of its retry. */
  readonly random: number
}

/** A claim that had not ended when the period began. */
export interface Held {
  readonly agent: string
  readonly token: number
  readonly claimedAt: number
  readonly expiresAt: number
  /** Of one lease, without a heartbeat. */
  readonly leaseMs: number
}

export interface RecordedTask {
  readonly facts: DataOf<'TaskEnqueued'>
  /** When it was enqueued, in milliseconds since 1970. */
  readonly at: number
  /** The task whose completion brought it. */
  readonly parent: string | undefined
  /** Of the settings' defaults, those that it has. A what-if gives it others. */
  readonly defaults: ReadonlyArray<'timeout' | 'maxRetries' | 'backoffSeconds'>
  /** As the period began; `undefined` for a task that came in it. `isBegun`: it had been claimed before. */
  readonly before: { readonly isBegun: boolean; readonly now: 'ready' | 'delayed' | 'running' | 'dead'; readonly held: Held | undefined } | undefined
  /** Those that ended in the period, or went on at its end, in order. */
  readonly attempts: ReadonlyArray<Attempt>
}

/** What an agent asks for. */
export type Abilities = Pick<CommandOf<'RegisterAgent'>, 'types' | 'phases' | 'skills' | 'tenant' | 'maxTasks'>

/** It comes, goes or registers. In the order of the log. */
export interface Sign {
  readonly at: number
  readonly isThere?: boolean
  /** Of one that was there as the period began: when it was last heard of. Who has waited longer is served first. */
  readonly since?: number
  readonly registers?: CommandOf<'RegisterAgent'>
}

export interface RecordedAgent {
  readonly name: string
  readonly abilities: Abilities
  /** Tasks that it had at a time, at most. */
  readonly concurrency: number
  readonly signs: ReadonlyArray<Sign>
}

/** What somebody did who is neither an agent nor the queue. */
export interface Input {
  readonly at: number
  readonly command: Command
}

/** Tasks that came together, by their indexes. */
export interface Arrivals {
  readonly at: number
  readonly tasks: ReadonlyArray<number>
}

export interface Recording {
  readonly from: number
  /** The first millisecond after it. */
  readonly until: number
  /** As the period began. It is forked for each run. */
  readonly start: QueueState
  /** As it ended. */
  readonly settings: Settings
  readonly events: ReadonlyArray<QueueEvent>
  /** Those that were unfinished as it began, and those that came, in the order of the log. */
  readonly tasks: ReadonlyArray<RecordedTask>
  readonly agents: ReadonlyArray<RecordedAgent>
  /** In the order of the log. Tasks that came, but for those that a completion brought, are among them. */
  readonly inputs: ReadonlyArray<Input | Arrivals>
  /** What the model leaves out of this log: number of events by reason. */
  readonly left: Readonly<Record<string, number>>
}
