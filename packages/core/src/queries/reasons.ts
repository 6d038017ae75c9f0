/** Why a task is not being worked on: all reasons, not only the first. A task that can be claimed has the reason `ready`. */
import { findTask } from '../decide/lookup.js'
import { type Gate, gates, isShutFor } from '../gates/gates.js'
import type { Question, Reason } from '../gates/reason.js'
import { QueueState } from '../fold/queue-state.js'
import { isHeld, type TaskRecord } from '../records/records.js'
import { isFinal } from '../model/task.js'

/**
 * The reasons of a task at this time, whichever agent claims; `undefined` if the task is unknown. By id, or by number as `#42`. They do not depend on
 * other waiting tasks: see `explainOf` for the reasons that do.
 */
export const reasonsOf = (state: QueueState, id: string, at: number): ReadonlyArray<Reason> | undefined => {
  const tables = QueueState.tablesOf(state)
  const task = findTask(tables, id, at)
  if (task === undefined) return undefined
  const question: Question = { tables, task, at, asker: undefined }
  const { shut, notes } = reasonsAt(question)
  return [...(shut.length === 0 && tables.breakers.get(task.group.type)?.state !== 'half-open' ? [ready(task)] : shut), ...notes]
}

export interface Reasons {
  /** The reasons of the gates that are shut. */
  readonly shut: ReadonlyArray<Reason>
  /** Notes on a waiting task. */
  readonly notes: ReadonlyArray<Reason>
}

export const reasonsAt = (question: Question): Reasons => {
  const { task, asker } = question
  const shut = gates.filter((gate) => isAskedOf(gate, task) && isShutFor(gate, question))
  const isWaiting = !shut.some(({ code }) => code === 'held' || code === 'finished' || code === 'dead-letter')
  const open = isWaiting ? gates.filter((gate) => !shut.includes(gate) && (asker === undefined || !isJudged(gate, asker.agent))) : []
  return {
    shut: shut.map(({ code, words }) => ({ code, ...words(question) })),
    notes: open.flatMap(({ code, note }) => {
      const words = note?.(question)
      return words === undefined ? [] : [{ code, ...words }]
    }),
  }
}

/** For a task that is held or finished, only the gate of its status counts. */
const isAskedOf = ({ scope }: Gate, task: TaskRecord): boolean => scope === 'task' || !(isHeld(task) || isFinal(task.status))

/** Whether the gate was judged for this asker and is therefore open. */
const isJudged = ({ scope }: Gate, agent: string | undefined): boolean => scope === 'group' || (scope === 'agent' && agent !== undefined)

export const ready = ({ group: { type } }: TaskRecord): Reason => ({
  code: 'ready',
  message: `it waits for an agent that claims ${type} tasks`,
  change: `claim ${type} tasks`,
})
