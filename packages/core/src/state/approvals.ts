/**
 * What waits for a guardian, and the chains of spawned tasks whose rounds are counted (TQM-VF-002, TQM-VF-003, TQM-BR-003).
 *
 * A chain is in the state while one of its tasks waits for a guardian, or while it has had rounds and some of its tasks are known (INV-22).
 */
import type { HaltCause, ProposalCause } from '../model/events.js'
import type { Tables } from './tables.js'
import type { PlannedTask } from '../model/task-fields.js'
import type { Undoable } from '../structures/undo-log.js'

/** The largest number of open approvals. Once it is reached, nothing is proposed, and halted chains cannot be released. */
export const approvalsMax = 1_000

/** Why an approval is needed: a discovery is to be spawned, a chain of fixes was halted, or a task of such a chain is a dead letter. */
export type ApprovalKind = 'spawn' | 'loop' | 'dead-letter'

/** Immutable. */
export interface Approval {
  readonly id: string
  readonly kind: ApprovalKind
  readonly cause: ProposalCause | HaltCause
  /** The task that caused the approval: the completed task that found something, or the dead letter. */
  readonly parent: string
  /** The first task of the chain. */
  readonly root: string
  readonly at: number
  /** The revision of the event that holds the contents of the tasks. */
  readonly revision: number
  /** The tasks that are spawned if a guardian approves. */
  readonly tasks: ReadonlyArray<PlannedTask>
  /** Only of a halted chain: its rounds so far, the failure that halted it, and the failure's signature. */
  readonly rounds?: number
  readonly error?: string
  readonly signature?: string
}

/** The rounds of a chain since it began, or since a guardian released it. */
export interface Chain extends Undoable {
  readonly root: string
  rounds: number
  /** Failures by signature. The object is replaced as a whole. */
  signatures: Readonly<Record<string, number>>
  /** Open approvals of this chain. */
  approvals: number
}

export const updateChain = (tables: Tables, root: string, change: (chain: Chain) => void): void => {
  const { chains, undoLog } = tables
  const chain = chains.get(root) ?? { savedFor: 0, root, rounds: 0, signatures: {}, approvals: 0 }
  chains.set(root, chain)
  undoLog.save(chain)
  change(chain)
}

/** Forgets a chain that cannot go on. `goesOn`: the next events add tasks to the chain, though it may have none now. */
export const dropEndedChain = ({ chains, byRoot }: Tables, root: string, goesOn = false): void => {
  const chain = chains.get(root)
  if (chain === undefined || chain.approvals > 0 || (chain.rounds > 0 && (goesOn || byRoot.has(root)))) return
  chains.delete(root)
}

export const openApproval = (tables: Tables, approval: Approval): void => {
  tables.approvals.set(approval.id, approval)
  updateChain(tables, approval.root, (chain) => chain.approvals++)
}

/** `goesOn`: as in {@link dropEndedChain}. */
export const closeApproval = (tables: Tables, id: string, goesOn = false): void => {
  const approval = tables.approvals.get(id)
  if (approval === undefined) return
  tables.approvals.delete(id)
  updateChain(tables, approval.root, (chain) => chain.approvals--)
  dropEndedChain(tables, approval.root, goesOn)
}

/** The approvals that this task caused. Cost: O(open approvals). */
export const approvalsOfTask = ({ approvals }: Tables, task: string): ReadonlyArray<Approval> => {
  if (approvals.size === 0) return none
  return [...approvals.values()].filter(({ parent }) => parent === task).sort(byAge)
}
const none: ReadonlyArray<never> = []

export const byAge = (a: Approval, b: Approval): number => a.revision - b.revision
