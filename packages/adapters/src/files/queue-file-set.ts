/** Which tasks stand in which queue file: one question to the state, so that the files agree with each other. */
import { depthOf, newestFinished, type QueueState, type Status, type TaskView } from '@daybook/core'
import { listViews } from '@daybook/projections'

/**
 * A file lists at most so many tasks, so that writing it costs the same with a hundred thousand as with a
 * thousand; `total` says how many there are. The rest is to be had over HTTP, or by `daybook export`.
 */
export const listedMax = 1_000

export interface FileList {
  readonly name: string
  readonly total: number
  readonly views: ReadonlyArray<TaskView>
}

interface FileRule {
  readonly name: string
  readonly statuses: ReadonlyArray<Status>
  readonly pick: (state: QueueState, max: number) => ReadonlyArray<TaskView>
}

const { pending, scheduled, blocked, 'in-progress': inProgress, completed, cancelled, 'dead-letters': deadLetters } = listViews

const open = [pending, scheduled, blocked]

/** What can be claimed now comes first, in the order of claims; of what is over, the newest. */
export const fileRules: ReadonlyArray<FileRule> = [
  {
    name: 'pending.json',
    statuses: open.flatMap((view) => view.statuses),
    pick: (state, max) => {
      const tasks: Array<TaskView> = []
      for (const view of open) tasks.push(...view.list(state, max - tasks.length).tasks)
      return tasks
    },
  },
  { name: 'in-progress.json', statuses: inProgress.statuses, pick: (state, max) => inProgress.list(state, max).tasks },
  { name: 'completed.json', statuses: completed.statuses, pick: (state, max) => newestFinished(state, completed.statuses, max) },
  { name: 'dead-letter.json', statuses: deadLetters.statuses, pick: (state, max) => deadLetters.list(state, max).tasks },
  { name: 'cancelled.json', statuses: cancelled.statuses, pick: (state, max) => newestFinished(state, cancelled.statuses, max) },
]

export const fileLists = (state: QueueState, max = listedMax): ReadonlyArray<FileList> => {
  const { byStatus } = depthOf(state)
  return fileRules.map(({ name, statuses, pick }) => ({
    name,
    total: statuses.reduce((sum, status) => sum + byStatus[status], 0),
    views: pick(state, max),
  }))
}
