/** The options for what a claim asks for, shared by `claim`, `work` and `explain`. */
import type { Phase } from '@daybook/core'
import { defined } from '../defined.js'

export interface ClaimOptions {
  readonly agent?: string
  readonly types?: ReadonlyArray<string>
  readonly phases?: ReadonlyArray<string>
  readonly skills?: ReadonlyArray<string>
  readonly tenant?: string
}

/** The options in the client's terms. The server checks the phases. */
export const askedBy = ({ agent, types, phases, skills, tenant }: ClaimOptions) =>
  defined({ agentId: agent, types, phases: phases as ReadonlyArray<Phase> | undefined, skills, tenant })
