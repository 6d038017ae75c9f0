/**
 * Tasks by their number, in order. Most numbers in use are close together, so an array serves, with less
 * memory than a map. Those few that stay when their neighbours have left (a dead letter that nobody looks at)
 * move to a list of their own: one old task must not keep a slot for every number since (INV-22).
 */
import { SortedList } from './sorted-list.js'
import type { TaskRecord } from './state.js'

/** Below this many slots nothing is worth moving. */
const slotsMin = 1_024

export class TaskNumbers {
  /** All with numbers below `base`. */
  private readonly stragglers = new SortedList<TaskRecord>((task) => task.number, (a, b) => a.enqueuedRevision - b.enqueuedRevision)
  /** `slots[i]` is the task with number `base + i`. */
  private slots: Array<TaskRecord | undefined> = []
  private base = 1
  /** Slots before this one are empty. */
  private head = 0
  /** Of slots in use. */
  private count = 0

  get size(): number {
    return this.count + this.stragglers.size
  }

  /** Places held, in use or not. */
  get capacity(): number {
    return this.slots.length + this.stragglers.size
  }

  get(number: number): TaskRecord | undefined {
    if (number >= this.base) return this.slots[number - this.base]
    const task = this.stragglers.seek(number).item
    return task?.number === number ? task : undefined
  }

  set(number: number, task: TaskRecord): void {
    if (number < this.base) {
      this.stragglers.add(task)
      return
    }
    if (this.slots.length === 0) {
      this.base = number
      this.head = 0
    }
    const index = number - this.base
    while (this.slots.length < index) this.slots.push(undefined)
    if (this.slots[index] === undefined) this.count++
    this.slots[index] = task
    this.head = Math.min(this.head, index)
  }

  delete(number: number): void {
    if (number < this.base) {
      const task = this.get(number)
      if (task !== undefined) this.stragglers.remove(task)
      return
    }
    const index = number - this.base
    if (this.slots[index] === undefined) return
    this.slots[index] = undefined
    this.count--
    const { slots } = this
    while (this.head < slots.length && slots[this.head] === undefined) this.head++
    if (slots.length < slotsMin) return
    if (this.head * 2 >= slots.length) this.dropSlots(this.head)
    else if (this.count * 4 < slots.length) this.dropSlots(slots.length >> 1)
  }

  /** Gives up the first so many slots; whoever is still there becomes a straggler. */
  private dropSlots(many: number): void {
    for (let i = this.head; i < many; i++) {
      const task = this.slots[i]
      if (task === undefined) continue
      this.stragglers.add(task)
      this.count--
    }
    this.slots.splice(0, many)
    this.base += many
    this.head = 0
  }

  /** The first task whose number is above `number`. */
  after(number: number): TaskRecord | undefined {
    const straggler = number + 1 < this.base ? this.stragglers.seek(number + 1).item : undefined
    if (straggler !== undefined) return straggler
    for (let i = Math.max(number + 1 - this.base, this.head); i < this.slots.length; i++) {
      const task = this.slots[i]
      if (task !== undefined) return task
    }
    return undefined
  }

  *values(): IterableIterator<TaskRecord> {
    yield* this.stragglers
    for (const task of this.slots) if (task !== undefined) yield task
  }
}
