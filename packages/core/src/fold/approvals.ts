/** The effects of events on the rounds of chains, and on what waits for a guardian. */
import { approvalsOfTask, closeApproval, openApproval, updateChain } from '../state/approvals.js'
import type { EventOf } from '../model/events.js'
import type { Tables } from '../state/tables.js'
import { misfit } from './change.js'

export const validationFailed = (tables: Tables, { data: { root, signature } }: EventOf<'ValidationFailed'>): void =>
  updateChain(tables, root, (chain) => {
    chain.rounds++
    chain.signatures = { ...chain.signatures, [signature]: (chain.signatures[signature] ?? 0) + 1 }
  })

export const proposed = (tables: Tables, event: EventOf<'SpawnProposed'> | EventOf<'LoopHalted'>): void => {
  const { approval: id, parent, root, tasks, cause } = event.data
  if (tables.approvals.has(id)) return misfit(tables)
  const common = { id, cause, parent, root, tasks, at: event.at, revision: tables.head.revision }
  if (event.type === 'SpawnProposed') return openApproval(tables, { ...common, kind: 'spawn' })
  const { rounds, error, signature } = event.data
  openApproval(tables, { ...common, kind: tasks.length > 0 ? 'loop' : 'dead-letter', rounds, error, signature })
}

export const decided = (tables: Tables, event: EventOf<'SpawnApproved'> | EventOf<'SpawnRefused'> | EventOf<'GuardianReleased'>): void => {
  const { approval: id } = event.data
  const approval = tables.approvals.get(id)
  if (approval === undefined) return misfit(tables)
  if (event.type === 'GuardianReleased' && tables.chains.has(approval.root)) {
    updateChain(tables, approval.root, (chain) => {
      chain.rounds = 0
      chain.signatures = {}
    })
  }
  closeApproval(tables, id, event.type === 'SpawnApproved')
}

/** A dead letter was sent back or discarded by a reviewer: its approval has nothing left to decide. An event that does not fit changes nothing. */
export const settled = (tables: Tables, task: string): void => {
  if (tables.byId.get(task)?.status !== 'dead-letter') return
  for (const { id, kind } of approvalsOfTask(tables, task)) if (kind === 'dead-letter') closeApproval(tables, id)
}
