/**
 * The finished tasks of a queue that are still known, in the order in which they finished. They hardly change any more, and there may be many
 * millions of them, so a task is some bytes in arrays outside the heap, not a record ([ADR 40](../../../../docs/adr/0040-finished-tasks.md)).
 * A record is made whenever one is asked for, and is another one each time: compare numbers, not records.
 *
 * They leave from the front when their retention is over. All changes can be undone, newest first.
 */
import type { Group } from '../group.js'
import { blocksDuplicates, type TaskRecord } from '../state.js'
import { ByteWriter } from './bytes.js'
import { FinishedWalk, type KeptPage, type RowsPage } from './finished-walk.js'
import { Interned } from './interned.js'
import { NumberRows } from './number-rows.js'
import { RowIndex } from './row-index.js'
import type { KeptRows, RowStore } from './row-store.js'
import { type RemovedPlace, Rows } from './rows.js'
import { factsAt, finishedAtOf, idAt, idHashAt, keyAt, keyHashAt, readTask, statusIn, writeTask } from './task-bytes.js'
import { hashOfText } from './text-hash.js'

/** A row that was removed: all that is needed to put it back. */
export interface RemovedRow {
  readonly task: TaskRecord
  readonly group: number
  readonly agent: number
  readonly place: RemovedPlace
  /** Whether new tasks with its key were duplicates of it. */
  readonly isKeyed: boolean
}

/** The names in a snapshot, by their numbers. */
export interface LoadedNames {
  readonly groupOf: (index: number) => Group | undefined
  readonly agentOf: (index: number) => string | undefined
}

/** Called for each task of a snapshot. `band`: see `task-bytes.ts`. `task`: its record, if it has further fields. */
export type Joins = (number: number, band: number, group: Group, task: TaskRecord | undefined) => void

/** One for all: nothing is kept in it between two calls. */
const writer = new ByteWriter()
/** Most rows are smaller. */
const rewrittenBytes = 256

export class FinishedTasks {
  /** Indexes know the last 32 bits of a row's number. */
  private readonly rows: Rows
  private readonly groups = new Interned<Group>()
  private readonly agents = new Interned<string>()
  private readonly rowOfId: RowIndex
  private readonly rowOfKey: RowIndex
  private readonly rowOfNumber = new NumberRows()
  /** When the first one finished, once it was asked for. */
  private oldest: number | undefined
  private readonly idHash: (bytes: Uint8Array, start: number) => number
  private readonly keyHash: (bytes: Uint8Array, start: number) => number

  constructor(seed: number, store?: RowStore) {
    this.rows = new Rows(seed, store)
    const hash = (text: string): number => hashOfText(text, seed)
    this.idHash = (bytes, start) => idHashAt(bytes, start, seed)
    this.keyHash = (bytes, start) => keyHashAt(bytes, start, seed)
    this.rowOfId = new RowIndex((row) => this.rows.at(this.whole(row), idAt), hash)
    this.rowOfKey = new RowIndex((row) => this.rows.at(this.whole(row), keyAt), hash)
  }

  get size(): number {
    return this.rowOfId.size
  }

  /** Number of tasks that new ones with their keys would be duplicates of. */
  get keys(): number {
    return this.rowOfKey.size
  }

  /** Bytes of its arrays outside the heap. */
  get bytes(): number {
    return this.rowOfId.bytes + this.rowOfKey.bytes + this.rowOfNumber.bytes + this.rows.bytes
  }

  /** How many of them are in a store, about. */
  get inStore(): number {
    return this.rows.inStore
  }

  /** Groups and names of agents that it refers to. */
  get names(): number {
    return this.groups.size + this.agents.size
  }

  /** When the first one finished; `undefined` if there is none. Finish times grow from the first to the last one, except in a damaged log. */
  get oldestAt(): number | undefined {
    if (this.size === 0) return undefined
    return (this.oldest ??= this.rows.at(this.rows.front, finishedAtOf))
  }

  byId(id: string): TaskRecord | undefined {
    return this.recordAt(this.rowOfId.get(id))
  }

  byKey(key: string): TaskRecord | undefined {
    return this.recordAt(this.rowOfKey.get(key))
  }

  byNumber(number: number): TaskRecord | undefined {
    return this.recordAt(this.rowOfNumber.get(number))
  }

  hasId(id: string): boolean {
    return this.rowOfId.get(id) !== undefined
  }

  hasKey(key: string): boolean {
    return this.rowOfKey.get(key) !== undefined
  }

  /** The first number above this one. */
  numberAfter(number: number): number | undefined {
    return this.rowOfNumber.from(number + 1)
  }

  first(): TaskRecord | undefined {
    return this.size === 0 ? undefined : this.taskAt(this.rows.front)
  }

  /** From the first to the last to finish. Must not change meanwhile. */
  *[Symbol.iterator](): IterableIterator<TaskRecord> {
    const { rows } = this
    for (let row = rows.front; row < rows.end; row++) if (rows.has(row)) yield this.taskAt(row)
  }

  /** All of them as they are now, to be read while they change. {@link FinishedWalk.end} must be called. */
  walk(): FinishedWalk {
    return new FinishedWalk(this.rows, this.groups, this.agents)
  }

  /** The row of the finished task with this number. */
  rowOf(number: number): number {
    const row = this.rowOfNumber.get(number)
    if (row === undefined) throw new Error(`no finished task has the number ${number}`)
    return this.whole(row)
  }

  /** Adds a task that has just finished. `isKeyed`: new tasks with its key are duplicates of it. */
  push(task: TaskRecord, isKeyed: boolean): void {
    const row = this.rows.push(writer, () => writeTask(writer, task, this.groups.take(task.group), task.lease === null ? -1 : this.agents.take(task.lease.agent)))
    this.enter(task.number, row, isKeyed)
  }

  /** Undoes the last {@link push}. */
  pop(): void {
    const row = this.rows.end - 1
    this.leave(this.taskAt(row), row)
    this.rows.pop()
    this.oldest = undefined
  }

  /** Removes a task, of which this is a record. */
  remove(task: TaskRecord): RemovedRow {
    const row = this.rowOf(task.number)
    const { group, agent, isKeyed } = this.leave(task, row)
    const place = this.rows.remove(row)
    this.oldest = undefined
    return { task, group, agent, isKeyed, place }
  }

  /** Undoes a {@link remove}. */
  putBack({ task, group, agent, isKeyed, place }: RemovedRow): void {
    this.rows.putBack(place)
    this.oldest = undefined
    this.groups.restore(group, task.group)
    if (task.lease !== null) this.agents.restore(agent, task.lease.agent)
    this.enter(task.number, place.row, isKeyed)
  }

  /** Writes a task again, of which nothing has changed that an index has, nor group and agent. Returns the undo. */
  rewrite(task: TaskRecord): () => void {
    const row = this.rowOf(task.number)
    writer.begin(new Uint8Array(rewrittenBytes), 0)
    writeTask(writer, task, this.groups.indexOf(task.group), task.lease === null ? -1 : this.agents.indexOf(task.lease.agent))
    const before = this.rows.rewrite(row, writer.end().slice(0, writer.length))
    return () => this.rows.rewrite(row, before)
  }

  /** Makes room for so many tasks, before the first one. */
  reserve(tasks: number): void {
    this.rowOfId.reserve(tasks)
    this.rowOfKey.reserve(tasks)
  }

  /** Adds the next rows of a snapshot. `groupOf` and `agentOf` are asked for the names of the numbers that rows have. */
  loadRows({ lengths, bytes }: RowsPage, names: LoadedNames, joins: Joins): void {
    const from = this.rows.adopt(lengths, bytes)
    for (let row = from; row < this.rows.end; row++) {
      if (!this.rows.has(row)) continue
      const { number, group, agent, band, hasExtras } = this.rows.at(row, factsAt)
      const named = this.load(row, number, group, agent, names)
      this.index(row, this.rows.at(row, this.idHash), this.rows.at(row, this.keyHash), band)
      joins(number, band, named, hasExtras ? this.taskAt(row) : undefined)
    }
  }

  /** The same with a chunk that a store has. None of its rows is read. The hashes in it must have been made with the same seed. */
  loadKept(kept: KeptRows, { absent, rewritten }: Omit<KeptPage, 'place'>, names: LoadedNames, joins: Joins): void {
    const { from, columns } = this.rows.adoptKept(kept, absent, rewritten)
    const others = new Set(rewritten.map(([row]) => row))
    const hasAll = absent.length === 0
    for (let row = from, i = 0; row < this.rows.end; row++, i++) {
      if (!hasAll && !this.rows.has(row)) continue
      const number = columns.number(i)
      const band = columns.band(i)
      const group = this.load(row, number, columns.group(i), columns.agent(i), names)
      this.index(row, columns.idHash(i), columns.keyHash(i), band)
      joins(number, band, group, columns.hasExtras(i) || others.has(i) ? this.taskAt(row) : undefined)
    }
  }

  private load(row: number, number: number, group: number, agent: number, { groupOf, agentOf }: LoadedNames): Group {
    this.oldest = undefined
    if (agent >= 0) this.agents.count(agent, agentOf)
    this.rowOfNumber.addLater(number, row)
    return this.groups.count(group, groupOf)
  }

  private index(row: number, idHash: number, keyHash: number, band: number): void {
    this.rowOfId.addLater(idHash, row)
    if (blocksDuplicates(statusIn(band))) this.rowOfKey.addLater(keyHash, row)
  }

  private enter(number: number, row: number, isKeyed: boolean): void {
    this.rowOfNumber.add(number, row)
    this.rowOfId.add(this.rows.at(row, this.idHash), row)
    if (isKeyed) this.rowOfKey.add(this.rows.at(row, this.keyHash), row)
  }

  private leave({ number, group, lease }: TaskRecord, row: number): Pick<RemovedRow, 'group' | 'agent' | 'isKeyed'> {
    this.rowOfNumber.remove(number)
    this.rowOfId.remove(this.rows.at(row, this.idHash), row)
    const isKeyed = this.rowOfKey.remove(this.rows.at(row, this.keyHash), row)
    return { group: this.groups.drop(group), agent: lease === null ? -1 : this.agents.drop(lease.agent), isKeyed }
  }

  /** The row with these last 32 bits. */
  private whole(row: number): number {
    const { front } = this.rows
    return front + ((row - front) >>> 0)
  }

  private recordAt(row: number | undefined): TaskRecord | undefined {
    return row === undefined ? undefined : this.taskAt(this.whole(row))
  }

  private taskAt(row: number): TaskRecord {
    return this.rows.at(row, this.reader)
  }

  private readonly reader = (bytes: Uint8Array, start: number): TaskRecord => readTask(bytes, start, this.groups, this.agents)
}
