/**
 * What waits for a guardian, and the chains of spawned tasks whose rounds are counted (TQM-VF-002, TQM-VF-003, TQM-BR-003).
 *
 * A chain is in the state while something of it waits for a guardian, or while it has had rounds and tasks of it are known (INV-22).
 */
import type { HaltCause, ProposalCause } from './events.js'
import type { Tables } from './tables.js'
import type { PlannedTask } from './task-fields.js'
import type { Undoable } from './undo-log.js'

/** Open approvals at most. While there are so many, nothing is proposed, and halted chains cannot be released. */
export const approvalsMax = 1_000

/** Why something waits: a discovery to be spawned, a chain of fixes that was halted, or a dead letter in such a chain. */
export type ApprovalKind = 'spawn' | 'loop' | 'dead-letter'

/** Never changed. */
export interface Approval {
  readonly id: string
  readonly kind: ApprovalKind
  readonly cause: ProposalCause | HaltCause
  /** The task that caused it: the one whose completion found something, or the dead letter. */
  readonly parent: string
  /** The first task of its chain. */
  readonly root: string
  readonly at: number
  /** The revision of the event, whose content has the contents of the tasks. */
  readonly revision: number
  /** The tasks that are spawned if a guardian approves. */
  readonly tasks: ReadonlyArray<PlannedTask>
  /** Of a chain: its rounds so far, the failure that halted it, and the failure's signature. */
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
  let chain = chains.get(root)
  if (chain === undefined) {
    chain = { savedFor: 0, root, rounds: 0, signatures: {}, approvals: 0 }
    chains.set(root, chain)
    if (undoLog.isRecording) undoLog.note({ undo: () => chains.delete(root) })
  }
  const changed = chain
  if (undoLog.mustSave(changed)) {
    const before = { ...changed }
    undoLog.note({ undo: () => Object.assign(changed, before) })
  }
  change(changed)
}

/** Forgets a chain that cannot go on. `goesOn`: the next events bring tasks of it, though it may have none now. */
export const dropEndedChain = ({ chains, byRoot, undoLog }: Tables, root: string, goesOn = false): void => {
  const chain = chains.get(root)
  if (chain === undefined || chain.approvals > 0 || (chain.rounds > 0 && (goesOn || byRoot.has(root)))) return
  chains.delete(root)
  if (undoLog.isRecording) undoLog.note({ undo: () => chains.set(root, chain) })
}

export const openApproval = (tables: Tables, approval: Approval): void => {
  const { approvals, undoLog } = tables
  approvals.set(approval.id, approval)
  if (undoLog.isRecording) undoLog.note({ undo: () => approvals.delete(approval.id) })
  updateChain(tables, approval.root, (chain) => chain.approvals++)
}

/** `goesOn`: as in {@link dropEndedChain}. */
export const closeApproval = (tables: Tables, id: string, goesOn = false): void => {
  const { approvals, undoLog } = tables
  const approval = approvals.get(id)
  if (approval === undefined) return
  approvals.delete(id)
  if (undoLog.isRecording) undoLog.note({ undo: () => approvals.set(id, approval) })
  updateChain(tables, approval.root, (chain) => chain.approvals--)
  dropEndedChain(tables, approval.root, goesOn)
}

/** What waits because of this task. Cost: O(open approvals). */
export const approvalsOfTask = ({ approvals }: Tables, task: string): ReadonlyArray<Approval> => {
  if (approvals.size === 0) return none
  return [...approvals.values()].filter(({ parent }) => parent === task).sort(byAge)
}
const none: ReadonlyArray<never> = []

export const byAge = (a: Approval, b: Approval): number => a.revision - b.revision
