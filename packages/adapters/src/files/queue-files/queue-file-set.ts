/** The tasks of each queue file, and their order. */
import { isFinal, type Status, statuses, type TaskView } from '@daybook/core'
import { mergeSorted } from './merge-sorted.js'

export const queueFileNames = ['pending.json', 'in-progress.json', 'completed.json', 'dead-letter.json', 'cancelled.json'] as const
export type QueueFileName = (typeof queueFileNames)[number]

/** Every status must have a file, or its tasks would be missing. This is also the order of statuses within a file. */
const statusesOf: Readonly<Record<QueueFileName, ReadonlyArray<Status>>> = {
  'pending.json': ['pending', 'queued', 'scheduled', 'waiting', 'blocked'],
  'in-progress.json': ['in-progress', 'incomplete'],
  'completed.json': ['completed'],
  'dead-letter.json': ['dead-letter'],
  'cancelled.json': ['cancelled', 'discarded'],
}

const fileOf = Object.fromEntries(
  statuses.map((status) => [status, queueFileNames.find((name) => statusesOf[name].includes(status))]),
) as Readonly<Record<Status, QueueFileName>>

/** Claimable tasks come first, in the order of claims. Of finished tasks, the newest come first. */
const inFileOrder = (a: TaskView, b: TaskView): number => {
  if (isFinal(a.status)) return (b.finishedAt ?? 0) - (a.finishedAt ?? 0) || b.lastRevision - a.lastRevision || b.number - a.number
  const places = statusesOf[fileOf[a.status]]
  return places.indexOf(a.status) - places.indexOf(b.status) || b.priority - a.priority || a.number - b.number
}

export interface FileList {
  readonly name: QueueFileName
  readonly total: number
  readonly tasks: Iterable<TaskView>
}

/** Collects tasks in any order, and returns those of each file in the file's order. */
export class FileLists {
  private readonly runs = new Map<QueueFileName, Array<Array<TaskView>>>(queueFileNames.map((name) => [name, []]))

  /** Adds a few hundred tasks at a time, so that sorting them does not take long. */
  add(tasks: ReadonlyArray<TaskView>): void {
    const byFile = new Map<QueueFileName, Array<TaskView>>()
    for (const task of tasks) {
      const name = fileOf[task.status]
      const run = byFile.get(name)
      if (run === undefined) byFile.set(name, [task])
      else run.push(task)
    }
    for (const [name, run] of byFile) this.runs.get(name)?.push(run.sort(inFileOrder))
  }

  all(): ReadonlyArray<FileList> {
    return [...this.runs].map(([name, runs]) => ({
      name,
      total: runs.reduce((sum, run) => sum + run.length, 0),
      tasks: mergeSorted(runs, inFileOrder),
    }))
  }
}
