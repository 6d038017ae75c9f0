/** The reasons why a task is not running, and the questions that they answer (EV-10). */
import type { ShapeOf } from '../ready/claim-shape.js'
import type { TaskRecord } from '../records/records.js'
import type { Tables } from '../state/tables.js'
import type { Status } from '../model/task.js'

export type ReasonCode =
  /** The task is claimed and not finished yet. */
  | 'held'
  | 'finished'
  /** The task was given up and waits for a reviewer. */
  | 'dead-letter'
  /** Other tasks must be completed first. */
  | 'blocked'
  /** Another task with the same ordering key comes first. */
  | 'ordering'
  /** The task is scheduled for later. */
  | 'scheduled'
  /** The agent parked the task until a callback comes. */
  | 'waiting'
  | 'queue-paused'
  | 'breaker-open'
  /** One task of this type is the probe, and the others wait for its outcome. */
  | 'breaker-half-open'
  /** An agent met a rate limit with this type, and other agents wait for a while. */
  | 'slow-down'
  /** The agent met a rate limit, and gets no task for a while. */
  | 'agent-sleeps'
  /** The concurrency key, the type or the tenant has as many live leases as its limit allows. */
  | 'concurrency-limit'
  /** The concurrency key, the type or the tenant has had as many starts as its rate allows for now. */
  | 'rate-limit'
  /** The claim asks for other types, other phases, or another tenant. */
  | 'type-not-claimed'
  | 'phase-not-claimed'
  | 'tenant-not-claimed'
  /** Only agents with certain skills may take it. */
  | 'skills-required'
  /** As many agents work as the queue allows, and the asking agent is not among them. */
  | 'capacity'
  /** The agent holds as many tasks as it registered for. */
  | 'agent-full'
  /** Certain agents released the task and will not get it again. */
  | 'agents-barred'
  /** The agent failed the task lately, and another agent can take it. */
  | 'failed-here-lately'
  /** The claim ends before it gets to the task, because its agent passes over too many tasks that come first. */
  | 'too-many-barred'
  /** The server that was asked refuses commands now. No gate has this code: the answer over HTTP adds it. */
  | 'unavailable'
  /** No gate is shut, but other tenants are served before the task's own. */
  | 'tenant-turn'
  /** The task can be claimed. */
  | 'ready'

export interface Reason {
  readonly code: ReasonCode
  /** Text for people. */
  readonly message: string
  /** What would change the reason; text for people. */
  readonly change: string
  /** A command that would change the reason. `change` has it in general words; who shows the reason says how to give it. */
  readonly remedy?: Remedy
  /** When the reason ends by itself, in milliseconds since 1970. */
  readonly until?: number
  /** The tasks on which the task depends, with their statuses. */
  readonly blockedBy?: ReadonlyArray<{ readonly id: string; readonly status: Status }>
}
export type Words = Omit<Reason, 'code'>
/** Higher limits with these keys, or the callback with this key. */
export type Remedy = { readonly limits: ReadonlyArray<string> } | { readonly callback: string }

/** What a claim asks for, and which agent asks. Without an agent: an agent that is barred from nothing. */
export interface Asker extends ShapeOf {
  readonly agent?: string | undefined
}

/** The question whether an asker gets anything at an instant. */
export interface ClaimQuestion {
  readonly tables: Tables
  readonly at: number
  readonly asker: Asker | undefined
  /** Only if the question is about one task. */
  readonly task?: TaskRecord
}
/** The question whether a task can be claimed at an instant: by this asker, or by an agent that asks for everything. */
export interface Question extends ClaimQuestion {
  readonly task: TaskRecord
}
