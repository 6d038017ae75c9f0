/** Tasks by their number, in order: numbers are dense, so an array serves, with less memory than a map. */
import type { TaskRecord } from './state.js'

export class TaskNumbers {
  /** `slots[i]` is the task with number `base + i`. */
  private slots: Array<TaskRecord | undefined> = []
  private base = 1
  /** Slots before this one are empty. */
  private head = 0
  private count = 0

  get size(): number {
    return this.count
  }

  get(number: number): TaskRecord | undefined {
    return this.slots[number - this.base]
  }

  set(number: number, task: TaskRecord): void {
    if (this.slots.length === 0) {
      this.base = number
      this.head = 0
    }
    if (number < this.base) {
      this.slots = [...new Array<undefined>(this.base - number), ...this.slots]
      this.base = number
    }
    const index = number - this.base
    while (this.slots.length < index) this.slots.push(undefined)
    if (this.slots[index] === undefined) this.count++
    this.slots[index] = task
    this.head = Math.min(this.head, index)
  }

  delete(number: number): void {
    const index = number - this.base
    if (this.slots[index] === undefined) return
    this.slots[index] = undefined
    this.count--
    while (this.head < this.slots.length && this.slots[this.head] === undefined) this.head++
    if (this.head < 1_024 || this.head * 2 < this.slots.length) return
    this.slots.splice(0, this.head)
    this.base += this.head
    this.head = 0
  }

  /** The first task whose number is above `number`. */
  after(number: number): TaskRecord | undefined {
    for (let i = Math.max(number + 1 - this.base, this.head); i < this.slots.length; i++) {
      const task = this.slots[i]
      if (task !== undefined) return task
    }
    return undefined
  }

  *values(): IterableIterator<TaskRecord> {
    for (const task of this.slots) if (task !== undefined) yield task
  }
}
