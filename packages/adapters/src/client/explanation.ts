/** Why a task is not running: the types of `explain`, and of a task's reasons. */
import type { Phase, ReasonCode, ScoreParts, Status } from '@daybook/core'

export type { ReasonCode, ScorePart, ScoreParts } from '@daybook/core'

export interface Reason {
  readonly code: ReasonCode
  readonly message: string
  /** What would change it, for people. */
  readonly change: string
  /** When the reason ends by itself. */
  readonly until?: string
  readonly blockedBy?: ReadonlyArray<{ readonly id: string; readonly status: Status }>
}

/** The claim for which a task is explained, as in `claim`. Without any of these: an agent that asks for everything, has all skills and is barred from nothing. */
export interface ExplainFor {
  readonly agentId?: string
  /** Exact, `eng-*` or `*`. */
  readonly types?: ReadonlyArray<string>
  readonly phases?: ReadonlyArray<Phase>
  readonly skills?: ReadonlyArray<string>
  readonly tenant?: string
  /** Waits (≤ 5 s) until the view has this revision. */
  readonly atLeast?: number
}

export interface Explanation {
  readonly status: Status
  /** Whether a claim that takes enough tasks would get it now. */
  readonly runnable: boolean
  /** All reasons; one of them is `ready` if it is runnable. */
  readonly reasons: ReadonlyArray<Reason>
  /** Its place among the tasks that would be served now: 1 for the next. `null` if it is not runnable, or beyond 10,000. */
  readonly position: number | null
  /** Beyond 10,000, its position is this or later. */
  readonly positionAtLeast?: number
  /** By which tasks of the same priority are served (policy `priority`), or all tasks (policy `score`). `null` unless it waits. */
  readonly score: number | null
  readonly scoreParts: ScoreParts | null
}
