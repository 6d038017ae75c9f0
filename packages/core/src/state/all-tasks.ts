/** All tasks of a state, finished and unfinished, as one index. The record of a finished task is made for each call: compare numbers, not records. */
import type { FinishedTasks } from '../finished/finished-tasks.js'
import type { TaskRecord } from '../records/records.js'
import type { TaskNumbers } from './task-numbers.js'

interface ByText {
  readonly size: number
  readonly get: (text: string) => TaskRecord | undefined
  readonly has: (text: string) => boolean
}

/** By id; or by idempotency key: the tasks that block new tasks with the same key as duplicates. */
export class TasksByText implements ByText {
  constructor(
    private readonly unfinished: ByText,
    private readonly finished: ByText,
  ) {}

  get size(): number {
    return this.unfinished.size + this.finished.size
  }

  get(text: string): TaskRecord | undefined {
    return this.unfinished.get(text) ?? this.finished.get(text)
  }

  has(text: string): boolean {
    return this.unfinished.has(text) || this.finished.has(text)
  }
}

/** All tasks by number, in order. */
export class TasksByNumber {
  constructor(
    private readonly unfinished: TaskNumbers,
    private readonly finished: FinishedTasks,
  ) {}

  get size(): number {
    return this.unfinished.size + this.finished.size
  }

  /** Slots of the index, in use or not. */
  get capacity(): number {
    return this.unfinished.capacity + this.finished.size
  }

  get(number: number): TaskRecord | undefined {
    return this.unfinished.get(number) ?? this.finished.byNumber(number)
  }

  /** The first task whose number is above `number`. */
  after(number: number): TaskRecord | undefined {
    const task = this.unfinished.after(number)
    const other = this.finished.numberAfter(number)
    return other === undefined || (task !== undefined && task.number < other) ? task : this.finished.byNumber(other)
  }

  *values(): IterableIterator<TaskRecord> {
    for (let task = this.after(0); task !== undefined; task = this.after(task.number)) yield task
  }
}
