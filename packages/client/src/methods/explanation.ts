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
  readonly agentId?: string | undefined
  /** Exact, `eng-*` or `*`. */
  readonly types?: ReadonlyArray<string> | undefined
  readonly phases?: ReadonlyArray<Phase> | undefined
  readonly skills?: ReadonlyArray<string> | undefined
  readonly tenant?: string | undefined
  /** Waits at most 5 s until the view includes this revision. */
  readonly atLeast?: number | undefined
}

export interface Explanation extends Omit<Explained, 'reasons'> {
  /** All reasons; one of them is `ready` if it is runnable. */
  readonly reasons: ReadonlyArray<Reason>
}
