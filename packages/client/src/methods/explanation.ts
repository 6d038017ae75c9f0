/** The types of `explain` and of a task's reasons: why a task is not running. */
import type { Explanation as Explained, Phase, Reason as ReasonAt } from '@daybook/core'

export type { ReasonCode, ScorePart, ScoreParts } from '@daybook/core'

export interface Reason extends Omit<ReasonAt, 'until'> {
  /** When the reason ends by itself. ISO 8601. */
  readonly until?: string
}

/**
 * The claim for which a task is explained; the fields are those of `claim`. Without any: an agent that asks for everything, has all skills and is
 * barred from nothing.
 */
export interface ExplainFor {
  readonly agentId?: string
  /** Exact, `eng-*` or `*`. */
  readonly types?: ReadonlyArray<string>
  readonly phases?: ReadonlyArray<Phase>
  readonly skills?: ReadonlyArray<string>
  readonly tenant?: string
  /** Waits at most 5 s until the view includes this revision. */
  readonly atLeast?: number
}

export interface Explanation extends Omit<Explained, 'reasons'> {
  /** All reasons; one of them is `ready` if it is runnable. */
  readonly reasons: ReadonlyArray<Reason>
}
