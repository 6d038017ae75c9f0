/**
 * What happens around a queue, whatever it decides: which tasks arrive when, how long each attempt takes and how it ends, and when agents work. It is
 * drawn from a scenario, or taken from a log.
 */
import type { Phase } from '@daybook/core'

/** How an attempt at a task goes, if its agent does not crash. */
export interface Outcome {
  readonly runMs: number
  readonly result: 'completed' | 'failed' | 'failed-for-good' | 'rate-limited'
  /** The wait that a rate limit asks for, in seconds. */
  readonly retryAfterSeconds?: number
  /** Randomness for the jitter of the retry, in [0, 1). */
  readonly random: number
}

export interface Arrival {
  /** Milliseconds since 1970. */
  readonly at: number
  readonly type: string
  readonly priority: number
  readonly tenant?: string
  readonly phase?: Phase
  readonly skills?: ReadonlyArray<string>
  readonly deadlineAt?: number
  /** The outcome of an attempt. `attempt`: 1 for the first. */
  readonly outcome: (attempt: number, startedAt: number) => Outcome
}

/** A time in which an agent claims tasks. After a crash its claims are lost. At the end of a shift it finishes its tasks. */
export interface Period {
  readonly from: number
  readonly to: number
  readonly endsBy: 'crash' | 'shift'
}

export interface Agent {
  readonly name: string
  /** Index among the workload's pools. */
  readonly pool: number
  readonly concurrency: number
  /** The length of its leases without a heartbeat. */
  readonly leaseMs: number
  /** In order and without overlaps. */
  readonly periods: ReadonlyArray<Period>
}

/** Agents that claim the same tasks. */
export interface AgentPool {
  readonly name: string
  readonly claim: { readonly types?: ReadonlyArray<string>; readonly phases?: ReadonlyArray<Phase>; readonly skills?: ReadonlyArray<string>; readonly tenant?: string }
}

export interface Workload {
  readonly from: number
  readonly until: number
  /** In the order of their times. */
  readonly arrivals: ReadonlyArray<Arrival>
  readonly pools: ReadonlyArray<AgentPool>
  readonly agents: ReadonlyArray<Agent>
}
