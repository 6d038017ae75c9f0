/** The queue as a whole: breakers, agents, alerts, counts, verification. */
import type { AlertKind, Band, Phase, Status } from '@daybook/core'

/** How far the tables of the server's `views.db` are. */
export interface ReadModels {
  /** The revision of the last event that the tables include; -1 for none. */
  readonly revision: number
  /** Number of events in the log that the tables do not include yet. */
  readonly behind: number
  /** Projections that are being built anew while the old tables still answer; the number of events done, and of all events. */
  readonly building?: { readonly projections: ReadonlyArray<string>; readonly done: number; readonly of: number }
}

/** Whether the log of a queue is unchanged since it was appended. */
export interface Verdict {
  readonly ok: boolean
  readonly events: number
  /** The revision of the last event (-1 for none), and the last hash of the chain (`null` if there is none). */
  readonly head: { readonly revision: number; readonly hash: string | null }
  /** The first event that a hash covers; `null` for a log without hashes. */
  readonly begins: number | null
  /** The first `size` events are unchanged since they were signed. `count`: the number of signed checkpoints. */
  readonly checkpoint?: { readonly size: number; readonly signer: string; readonly count: number }
  /** Events after the last hash, which no hash covers. Either an older server wrote them, or a hash was removed. */
  readonly unsealed?: { readonly from: number; readonly to: number }
  /** Events that only the hash of a later append covers, not one of their own: their number, the first and the last. Either an older server wrote them, or somebody added them to the store. */
  readonly sealedLater?: { readonly events: number; readonly from: number; readonly to: number }
  readonly broken?: {
    readonly kind: 'altered' | 'missing' | 'inserted' | 'reordered' | 're-signed' | 'cut' | 'rewritten'
    /** The first event that was changed. With `to`: an event between the two. */
    readonly revision: number
    readonly to?: number
    readonly reason: string
  }
}

export interface BreakerView {
  readonly state: 'closed' | 'open' | 'half-open'
  readonly failures: number
  readonly lastFailure?: string
  readonly openedAt?: string
  readonly halfOpenAt?: string
  readonly probe?: string
  readonly reason?: string
}

/** What an agent can take. */
export interface Abilities {
  /** Exact, `eng-*` or `*`. */
  readonly types?: ReadonlyArray<string>
  readonly phases?: ReadonlyArray<Phase>
  readonly skills?: ReadonlyArray<string>
  readonly tenant?: string
  /** The largest number of tasks that it holds at the same time. */
  readonly maxTasks?: number
}

/** A condition that people should know of. It is raised once when it begins, and cleared once when it ends. */
export interface AlertView {
  /** The kind and what the alert is about: `breaker-open:eng-backend`. */
  readonly key: string
  readonly kind: AlertKind
  readonly message: string
  readonly raisedAt: string
}

export interface Registration extends Abilities {
  readonly agentId: string
  /** The registration ends this many seconds after the agent was last heard of. Default 600. */
  readonly ttlSeconds?: number
}

export interface Registered {
  readonly agentId: string
  readonly registeredUntil: string
}

export interface AgentView extends Abilities {
  readonly agentId: string
  /** Whether the agent holds a task. */
  readonly status: 'idle' | 'working'
  /** Ids of the tasks that the agent holds. */
  readonly tasks: ReadonlyArray<string>
  readonly leases: ReadonlyArray<{ readonly task: string; readonly expiresAt: string }>
  /** Only of a registered agent: when it was last heard of (exact to a 64th of the registration's length), and when the registration ends. */
  readonly lastSeenAt?: string
  readonly registeredUntil?: string
  /** Only of an agent that met a rate limit: until then it gets no task. */
  readonly sleepsUntil?: string
}

export interface Depth {
  readonly total: number
  readonly byStatus: Readonly<Record<Status, number>>
  readonly byPriority: Readonly<Record<Band, number>>
  readonly byType: Readonly<Record<string, number>>
  readonly byPhase: Readonly<Record<string, number>>
  readonly byTenant: Readonly<Record<string, number>>
  readonly oldestPendingAt: string | null
  readonly oldestWaitSeconds: number
  readonly revision: number
}

/** The server accepts commands. */
export interface Ready {
  readonly status: 'ready'
  readonly queues: number
  /** Queues that are not opened, because they were deleted or truncated in the store. */
  readonly refused?: ReadonlyArray<RefusedQueue>
  /** Queues whose log holds events that this server cannot read: nothing is decided on them here. */
  readonly readOnly?: ReadonlyArray<{ readonly queue: string; readonly reason: string }>
  /** Queues whose time is ahead of this server's clock, because a clock was wrong once. Their time goes on from the last event. */
  readonly ahead?: ReadonlyArray<{ readonly queue: string; readonly seconds: number }>
  /** Parts that do not work, although commands are accepted: for example queue files that cannot be written, or a memory or webhook that cannot be reached. */
  readonly degraded?: ReadonlyArray<{ readonly part: string; readonly queue?: string; readonly reason: string; readonly since: string }>
}

export interface QueueSummary {
  readonly name: string
  readonly revision: number
  /** Why it is paused; `null` when it is not. A token for tenants gets no reason, and counts of its own tasks. */
  readonly paused: string | null
  readonly total: number
  readonly byStatus: Readonly<Record<Status, number>>
}

export interface QueueList {
  readonly queues: ReadonlyArray<QueueSummary>
  readonly refused: ReadonlyArray<RefusedQueue>
}

/** A queue that cannot be read now, and why. */
export interface RefusedQueue {
  readonly queue: string
  readonly reason: string
}

export interface Terminated {
  readonly agentId: string
  readonly terminated: true
  /** Ids of the tasks that the agent held. */
  readonly reassignedTasks: ReadonlyArray<string>
  /** The same tasks, each with its new status. */
  readonly tasks: ReadonlyArray<{ readonly id: string; readonly number: number; readonly status: Status }>
}
