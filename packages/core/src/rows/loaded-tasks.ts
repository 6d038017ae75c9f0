/**
 * Unfinished tasks of a snapshot, as the bytes of its pages. A record is made when it is first needed: a question about a past moment needs few of a
 * million records, and to make all would take most of its time ([ADR 75](../../../../docs/adr/0075-records-on-demand.md)).
 */
import { type NamesOf, rankAt, readTask, type RowRank } from './task-bytes.js'
import { rowBytesOf, type RowBytes } from './row-bytes.js'
import type { Group } from '../records/group.js'
import type { TaskRecord } from '../records/records.js'

/** The largest number of tasks in a page. */
export const pageTasks = 1_024

/** The tasks of a page of a snapshot, one after the other. */
export interface TaskRows {
  readonly lengths: ArrayLike<number>
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly groups: NamesOf<Group>
  readonly agents: NamesOf<string>
}

/** A task; or its row, until its record is needed. */
export type Slot = TaskRecord | number

/** What indexes need of the tasks that are rows, one task after the other. */
export class RowList {
  readonly numbers: Float64Array<ArrayBuffer>
  readonly rows: Uint32Array<ArrayBuffer>
  readonly idHashes: Int32Array<ArrayBuffer>
  readonly keyHashes: Int32Array<ArrayBuffer>
  /** How many there are. Tasks for which there is no room are counted, and nothing is kept of them. */
  length = 0

  /** `room`: the largest number of tasks. */
  constructor(room: number) {
    this.numbers = new Float64Array(room)
    this.rows = new Uint32Array(room)
    this.idHashes = new Int32Array(room)
    this.keyHashes = new Int32Array(room)
  }

  /** Adds a task. `row`: the number of its row. */
  add(number: number, row: number, idHash: number, keyHash: number): void {
    const at = this.length++
    this.numbers[at] = number
    this.rows[at] = row
    this.idHashes[at] = idHash
    this.keyHashes[at] = keyHash
  }
}

interface Page extends RowBytes, Pick<TaskRows, 'groups' | 'agents'> {
  /** How many of its rows may still be asked for. */
  left: number
}

export class LoadedTasks {
  private readonly pages: Array<Page | undefined> = []

  /** How many rows may still be taken. */
  get size(): number {
    return this.pages.reduce((sum, page) => sum + (page?.left ?? 0), 0)
  }

  /** Adds a page. Returns the number of its first row. Throws if the lengths do not add up to the bytes. */
  add({ lengths, bytes, groups, agents }: TaskRows): number {
    if (lengths.length > pageTasks) throw new Error(`a page of ${lengths.length} tasks`)
    const pages = this.pages.push({ ...rowBytesOf(lengths, bytes, lengths.length), groups, agents, left: lengths.length })
    return (pages - 1) * pageTasks
  }

  /** What the order of ready tasks needs of a row. */
  rankAt(row: number): RowRank {
    const { bytes, starts, groups } = this.pageOf(row)
    return rankAt(bytes, starts[row % pageTasks] as number, groups)
  }

  /** Makes the record of a row, and forgets the row. Each row may be taken once. Throws if it is not that of the task with this number. */
  take(row: number, number: number): TaskRecord {
    const { bytes, starts, groups, agents } = this.pageOf(row)
    const task = readTask(bytes, starts[row % pageTasks] as number, groups, agents)
    if (task.number !== number) throw new Error(`the row of task ${number} has the number ${task.number}`)
    this.drop(row)
    return task
  }

  /** Forgets a row. */
  drop(row: number): void {
    const page = this.pageOf(row)
    if (--page.left === 0) this.pages[Math.floor(row / pageTasks)] = undefined
  }

  private pageOf(row: number): Page {
    return this.pages[Math.floor(row / pageTasks)] as Page
  }
}
