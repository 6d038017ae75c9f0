/**
 * An index of tasks by number, in order. Most numbers in use are close together, so they are in an array, which needs less memory than a map. Tasks
 * with gaps around them (an old dead letter, a snapshot with old and new tasks) are moved to a sorted list. At least a quarter of the array is in
 * use, so the cost does not depend on the gaps between numbers (INV-22).
 */
import { SortedList, sortedByKey } from '../structures/sorted-list.js'
import { LoadedTasks, type RowList, type Slot } from '../rows/loaded-tasks.js'
import type { UnsortedTask } from '../ready/unsorted-tasks.js'
import type { TaskRecord } from '../records/records.js'

/** An array of this size or less is never thinned out. */
const slotsMin = 1_024
/** The largest number of slots per task in the array. */
const slotsPerTask = 4

export class TaskNumbers {
  /** All tasks with numbers below `base`. */
  private readonly stragglers = new SortedList<TaskRecord>((task) => task.number, (a, b) => a.enqueuedRevision - b.enqueuedRevision)
  /** `slots[i]` is the task with number `base + i`. */
  private slots: Array<Slot | undefined> = []
  private loaded = new LoadedTasks()
  private base = 1
  /** Slots before this one are empty. */
  private head = 0
  /** Number of slots in use. */
  private count = 0

  get size(): number {
    return this.count + this.stragglers.size
  }

  /** Number of tasks that have no record yet. */
  get rows(): number {
    return this.loaded.size
  }

  /** Number of slots, used or not. */
  get capacity(): number {
    return this.slots.length + this.stragglers.size
  }

  get(number: number): TaskRecord | undefined {
    if (number >= this.base) return this.at(number - this.base)
    const task = this.stragglers.seek(number).item
    return task?.number === number ? task : undefined
  }

  /** The task in a slot. */
  private at(index: number): TaskRecord | undefined {
    const slot = this.slots[index]
    return typeof slot === 'number' ? this.made(index, slot) : slot
  }

  private made(index: number, row: number): TaskRecord {
    return (this.slots[index] = this.loaded.take(row, this.base + index))
  }

  /** Adds the tasks of a snapshot, in any order: records, and rows of `loaded`. There must be none yet. */
  fill(records: ReadonlyArray<TaskRecord>, rows: RowList, loaded: LoadedTasks): void {
    this.loaded = loaded
    let least = Number.POSITIVE_INFINITY
    let most = Number.NEGATIVE_INFINITY
    const widen = (number: number): void => {
      least = Math.min(least, number)
      most = Math.max(most, number)
    }
    for (const { number } of records) widen(number)
    for (let i = 0; i < rows.length; i++) widen(rows.numbers[i] as number)
    const count = records.length + rows.length
    if (count === 0) return
    const length = most - least + 1
    if (length > slotsMin && length > slotsPerTask * count) {
      const all: Array<readonly [number: number, task: Slot]> = records.map((task) => [task.number, task])
      for (let i = 0; i < rows.length; i++) all.push([rows.numbers[i] as number, rows.rows[i] as number])
      for (const [number, task] of sortedByKey(all, ([number]) => number)) this.set(number, task)
      return
    }
    this.base = least
    // Not `new Array(length)`: with more than 2^25 slots that would be a dictionary.
    while (this.slots.length < length) this.slots.push(undefined)
    for (const task of records) this.put(task.number - least, task)
    for (let i = 0; i < rows.length; i++) this.put((rows.numbers[i] as number) - least, rows.rows[i] as number)
  }

  set(number: number, task: Slot): void {
    if (number < this.base) {
      this.stragglers.add(typeof task === 'number' ? this.loaded.take(task, number) : task)
      return
    }
    if (this.slots.length === 0) {
      this.base = number
      this.head = 0
    }
    if (this.isFarAhead(number)) {
      this.dropSlots(this.slots.length)
      this.base = number
    }
    const index = number - this.base
    while (this.slots.length < index) this.slots.push(undefined)
    this.put(index, task)
    this.head = Math.min(this.head, index)
  }

  private put(index: number, task: Slot): void {
    if (this.slots[index] === undefined) this.count++
    this.slots[index] = task
  }

  delete(number: number): void {
    if (number < this.base) {
      const task = this.get(number)
      if (task !== undefined) this.stragglers.remove(task)
      return
    }
    const index = number - this.base
    const slot = this.slots[index]
    if (slot === undefined) return
    if (typeof slot === 'number') this.loaded.drop(slot)
    this.slots[index] = undefined
    this.count--
    const { slots } = this
    while (this.head < slots.length && slots[this.head] === undefined) this.head++
    if (slots.length < slotsMin) return
    if (this.head * 2 >= slots.length) this.dropSlots(this.head)
    else if (this.count * slotsPerTask < slots.length) this.dropSlots(slots.length >> 1)
  }

  /** Whether the array would be mostly empty if it reached up to this number. */
  private isFarAhead(number: number): boolean {
    const length = number - this.base + 1
    return length > slotsMin && length > this.slots.length && (this.count + 1) * slotsPerTask < length
  }

  /** Removes the first `many` slots. Tasks in them become stragglers. */
  private dropSlots(many: number): void {
    for (let i = this.head; i < many; i++) {
      const task = this.at(i)
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
      const task = this.at(i)
      if (task !== undefined) return task
    }
    return undefined
  }

  /** Visits all ready tasks, in any order, without making records. */
  eachReady(visit: (task: UnsortedTask) => void): void {
    for (const task of this.stragglers) if (task.status === 'pending') visit(task)
    for (const slot of this.slots) {
      if (typeof slot === 'number') visit(this.loaded.rankAt(slot))
      else if (slot?.status === 'pending') visit(slot)
    }
  }

  *values(): IterableIterator<TaskRecord> {
    yield* this.stragglers
    for (let i = 0; i < this.slots.length; i++) {
      const task = this.at(i)
      if (task !== undefined) yield task
    }
  }
}
