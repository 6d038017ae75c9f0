/** What keeps tasks blocked: dependencies that are not completed, and earlier tasks with the same ordering key. */
import { isFinal, type Status } from '@daybook/core'
import type { TaskRow, TaskRows } from './task-tables.js'

export class Waiting {
  constructor(
    private readonly queue: string,
    private readonly rows: TaskRows,
  ) {}

  /** Counts what a new task waits for in `task.missing`, and remembers it. */
  arrived(task: TaskRow, dependencies: ReadonlyArray<string>): void {
    const isOver = isFinal(task.status as Status)
    for (const id of dependencies) {
      const other = this.rows.tasks.get(this.queue, id)
      if (other === undefined) continue
      other.dependents++
      this.rows.tasks.put(other)
      this.rows.dependencies.put({ depends_on: other.key, place: other.dependents, task_key: task.key, task_id: task.id })
      if (other.status !== 'completed' && !isOver) task.missing++
    }
    if (task.ordering_key !== null && !isOver) this.queueUp(task, task.ordering_key)
  }

  /** The tasks that depend on this one, which was completed. */
  dependentsOf({ key, dependents }: TaskRow): ReadonlyArray<TaskRow> {
    const found: Array<TaskRow> = []
    for (let place = 1; place <= dependents; place++) {
      const edge = this.rows.dependencies.get(key, place)
      const task = edge === undefined ? undefined : this.rows.tasks.get(this.queue, edge.task_id)
      // A finished task may be forgotten, and its id given to another task.
      if (task !== undefined && task.key === edge?.task_key && !isFinal(task.status as Status)) found.push(task)
    }
    return found
  }

  /** A finished task leaves its line. Returns the task that is now first, if this one was first before. */
  leave(task: TaskRow): TaskRow | undefined {
    const { ordering_key, before_in_line, after_in_line } = task
    if (ordering_key === null) return undefined
    const get = (id: string | null): TaskRow | undefined => (id === null ? undefined : this.rows.tasks.get(this.queue, id))
    const before = get(before_in_line)
    const after = get(after_in_line)
    if (before !== undefined) {
      before.after_in_line = after_in_line
      this.rows.tasks.put(before)
    }
    if (after !== undefined) {
      after.before_in_line = before_in_line
      this.rows.tasks.put(after)
    } else this.rows.lines.put({ queue: this.queue, ordering_key, last_task_id: before_in_line })
    task.before_in_line = null
    task.after_in_line = null
    return before === undefined ? after : undefined
  }

  private queueUp(task: TaskRow, orderingKey: string): void {
    const line = this.rows.lines.get(this.queue, orderingKey)
    const last = line === undefined || line.last_task_id === null ? undefined : this.rows.tasks.get(this.queue, line.last_task_id)
    if (last !== undefined) {
      task.missing++
      task.before_in_line = last.id
      last.after_in_line = task.id
      this.rows.tasks.put(last)
    }
    this.rows.lines.put({ queue: this.queue, ordering_key: orderingKey, last_task_id: task.id })
  }
}
