/**
 * Unfinished tasks of a snapshot, as the bytes of its pages. A record is made when it is first needed: a question about a past moment needs few of a
 * million records, and to make all would take most of its time ([ADR 75](../../../../docs/adr/0075-records-on-demand.md)).
 */
import { idEndHashAt, keyEndHashAt, type NamesOf, rankAt, readTask, type RowRank } from './task-bytes.js'
import { rowBytesOf, type RowBytes } from './row-bytes.js'
import type { Group } from '../state/group.js'
import type { TaskRecord } from '../state/state.js'

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

/** What the indexes by text need of tasks that are rows: their numbers, and the hashes of their ids and keys. */
export interface RowHashes {
  readonly numbers: Float64Array
  readonly ids: Int32Array
  readonly keys: Int32Array
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

  /** Adds a page. Returns the number of its first row; the others have the next numbers. Throws if the lengths do not add up to the bytes. */
  add({ lengths, bytes, groups, agents }: TaskRows): number {
    if (lengths.length > pageTasks) throw new Error(`a page of ${lengths.length} tasks`)
    return (this.pages.push({ ...rowBytesOf(lengths, bytes, lengths.length), groups, agents, left: lengths.length }) - 1) * pageTasks
  }

  /** Reads something of a row's bytes. */
  at<A>(row: number, read: (bytes: Uint8Array, start: number) => A): A {
    const { bytes, starts } = this.pageOf(row)
    return read(bytes, starts[row % pageTasks] as number)
  }

  /** What the order of ready tasks needs of a row. */
  rankAt(row: number): RowRank {
    const { bytes, starts, groups } = this.pageOf(row)
    return rankAt(bytes, starts[row % pageTasks] as number, groups)
  }

  /** The hashes of those tasks that are rows. No text is made. `numbers`: the number of each task. `seed`: that of the indexes. */
  hashesOf(numbers: ReadonlyArray<number>, tasks: ReadonlyArray<Slot>, seed: number): RowHashes {
    const count = tasks.reduce<number>((sum, task) => (typeof task === 'number' ? sum + 1 : sum), 0)
    const hashes: RowHashes = { numbers: new Float64Array(count), ids: new Int32Array(count), keys: new Int32Array(count) }
    let to = 0
    for (let i = 0; i < tasks.length; i++) {
      const row = tasks[i]
      if (typeof row !== 'number') continue
      const { bytes, starts } = this.pageOf(row)
      const start = starts[row % pageTasks] as number
      hashes.numbers[to] = numbers[i] as number
      hashes.ids[to] = idEndHashAt(bytes, start, seed)
      hashes.keys[to++] = keyEndHashAt(bytes, start, seed)
    }
    return hashes
  }

  /** Makes the record of a row, and forgets the row. Each row may be taken once. */
  take(row: number): TaskRecord {
    const { bytes, starts, groups, agents } = this.pageOf(row)
    const task = readTask(bytes, starts[row % pageTasks] as number, groups, agents)
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
