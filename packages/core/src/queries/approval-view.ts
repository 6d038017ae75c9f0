/** The approvals that wait for a guardian, as they are shown. */
import { type Approval, byAge } from '../state/approvals.js'
import { recordOf } from '../decide/lookup.js'
import { QueueState } from '../fold/queue-state.js'
import { knownAt } from '../state/retention.js'
import { timeOf } from './query.js'
import { type TaskView, viewOf } from './task-view.js'

export type ApprovalView = Approval

/** All open approvals, the oldest first. */
export const approvalsOf = (state: QueueState): ReadonlyArray<ApprovalView> => [...QueueState.tablesOf(state).approvals.values()].sort(byAge)

export const approvalOf = (state: QueueState, id: string): ApprovalView | undefined => QueueState.tablesOf(state).approvals.get(id)

export interface ApprovalContext {
  readonly approval: ApprovalView
  /** The newest known tasks of the chain by number, its first task included; at most {@link chainShownMax}. */
  readonly chain: ReadonlyArray<TaskView>
  /** Failures of validation since the chain began or was released, by signature. */
  readonly signatures: Readonly<Record<string, number>>
}
const chainShownMax = 100

/** An approval with all that a guardian needs to decide on it; `undefined` if it is not open. */
export const approvalContextOf = (state: QueueState, id: string, at = timeOf(state)): ApprovalContext | undefined => {
  const tables = QueueState.tablesOf(state)
  const approval = tables.approvals.get(id)
  if (approval === undefined) return undefined
  const { root } = approval
  const records = [recordOf(tables, root), ...[...(tables.byRoot.get(root) ?? [])].map((number) => tables.byNumber.get(number))].flatMap((task) => knownAt(tables, task, at) ?? [])
  const chain = records.sort((a, b) => a.number - b.number).slice(-chainShownMax)
  return { approval, chain: chain.map((task) => viewOf(task, tables.head.settings)), signatures: tables.chains.get(root)?.signatures ?? {} }
}
