/** Which tasks wait for a task: each unfinished task knows its dependents, and counts those that it blocks. */
import { noTasks, type TaskRecord } from '../records/records.js'
import type { Tables } from './tables.js'

/**
 * Removes the task from its dependencies. Otherwise an unfinished task would keep all tasks that ever depended on it, and the state would grow with
 * history (INV-22).
 */
export const leaveDependencies = (tables: Tables, task: TaskRecord): void => {
  for (const id of task.dependencies) {
    // Nothing depends on a finished task any more.
    const dependents = tables.unfinishedById(id)?.dependents
    const index = dependents?.indexOf(task) ?? -1
    if (dependents === undefined || index < 0) continue
    dependents.splice(index, 1)
    tables.undoLog.note(() => dependents.splice(index, 0, task))
  }
}

export const addDependent = (tables: Tables, dependency: TaskRecord, task: TaskRecord): void => {
  const { undoLog } = tables
  tables.update(dependency, (record) => record.blocking++)
  if (dependency.dependents === noTasks) {
    dependency.dependents = [task]
    undoLog.note(() => (dependency.dependents = noTasks))
    return
  }
  const { dependents } = dependency
  dependents.push(task)
  undoLog.note(() => dependents.pop())
}

/** Called for a task that ends without being completed. Its dependencies no longer count it among the tasks that they block. */
export const stopWaiting = (tables: Tables, task: TaskRecord): void => {
  for (const id of task.dependencies) {
    // A finished task blocks nothing any more.
    const dependency = tables.unfinishedById(id)
    // A task with a higher number is another task, which got the id after the dependency had been evicted.
    if (dependency === undefined || dependency.number > task.number) continue
    tables.update(dependency, (record) => record.blocking--)
  }
}
