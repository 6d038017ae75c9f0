/**
 * The finished tasks of a queue that are still known, in the order in which they finished. They hardly change any more, and there may be many
 * millions of them, so a task is some bytes in arrays outside the heap, not a record ([ADR 40](../../../../docs/adr/0040-finished-tasks.md)).
 * A record is made whenever one is asked for, and is another one each time: compare numbers, not records.
 *
 * They leave from the front when their retention is over. All changes can be undone, newest first.
 */
import type { Group } from '../group.js'
import { NumberSet } from '../number-set.js'
import type { TaskRecord } from '../state.js'
import { hashOf } from '../text-index.js'
import { ByteWriter } from './bytes.js'
import { Chunk, chunkRows } from './chunk.js'
import { Interned } from './interned.js'
import { RowIndex } from './row-index.js'
import { finishedAtOf, idAt, keyAt, numberAt, readTask, writeTask } from './task-bytes.js'

/** A row that was removed: all that is needed to put it back. */
export interface RemovedRow {
  readonly task: TaskRecord
  readonly group: number
  readonly agent: number
  readonly row: number
  /** Whether new tasks with its key were duplicates of it. */
  readonly isKeyed: boolean
  /** Where the first row was, and what was dropped with it. */
  readonly front: number
  readonly passed: ReadonlyArray<number>
  readonly dropped: ReadonlyArray<Chunk>
}

/** One for all: nothing is kept in it between two calls. */
const writer = new ByteWriter()
/** Most rows are smaller. */
const rewrittenBytes = 256

export class FinishedTasks {
  /** Rows from `front` to before `end` are there, except those in `gone`. Rows are numbered from 0 and never again; indexes know the last 32 bits. */
  front = 0
  end = 0
  private readonly gone = new Set<number>()
  /** The chunk of row `r` is the one with index `floor(r / chunkRows) - firstChunk`. */
  private readonly chunks: Array<Chunk> = []
  private firstChunk = 0
  private readonly groups = new Interned<Group>()
  private readonly agents = new Interned<string>()
  private readonly rowOfId: RowIndex<string>
  private readonly rowOfKey: RowIndex<string>
  private readonly rowOfNumber: RowIndex<number>
  private readonly numbers = new NumberSet()
  /** When the first one finished, once it was asked for. */
  private oldest: number | undefined

  constructor(seed: number) {
    const hashOfText = (text: string): number => hashOf(text, seed)
    this.rowOfId = new RowIndex((row) => this.read(this.whole(row), idAt), hashOfText)
    this.rowOfKey = new RowIndex((row) => this.read(this.whole(row), keyAt), hashOfText)
    this.rowOfNumber = new RowIndex((row) => this.read(this.whole(row), numberAt), (number) => hashOfNumber(number, seed))
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
    return this.rowOfId.bytes + this.rowOfKey.bytes + this.rowOfNumber.bytes + this.chunks.reduce((sum, { size }) => sum + size, 0)
  }

  /** Groups and names of agents that it refers to. */
  get names(): number {
    return this.groups.size + this.agents.size
  }

  /** When the first one finished; `undefined` if there is none. Finish times grow from the first to the last one, except in a damaged log. */
  get oldestAt(): number | undefined {
    if (this.size === 0) return undefined
    return (this.oldest ??= this.read(this.front, finishedAtOf))
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
    return this.numbers.from(number + 1)
  }

  first(): TaskRecord | undefined {
    return this.size === 0 ? undefined : this.taskAt(this.front)
  }

  /** From the first to the last to finish. Must not change meanwhile. */
  *[Symbol.iterator](): IterableIterator<TaskRecord> {
    for (let row = this.front; row < this.end; row++) if (!this.gone.has(row)) yield this.taskAt(row)
  }

  /** The task in this row; `undefined` if there is none any more. */
  inRow(row: number): TaskRecord | undefined {
    return row < this.front || row >= this.end || this.gone.has(row) ? undefined : this.taskAt(row)
  }

  /** The row of the finished task with this number. */
  rowOf(number: number): number {
    const row = this.rowOfNumber.get(number)
    if (row === undefined) throw new Error(`no finished task has the number ${number}`)
    return this.whole(row)
  }

  /** Adds a task that has just finished. `isKeyed`: new tasks with its key are duplicates of it. */
  push(task: TaskRecord, isKeyed: boolean): void {
    const row = this.end
    const within = row % chunkRows
    const index = (row - within) / chunkRows - this.firstChunk
    if (index === this.chunks.length) this.chunks.push(new Chunk(this.chunks[index - 1]))
    const chunk = this.chunks[index] as Chunk
    chunk.begin(within, writer)
    writeTask(writer, task, this.groups.take(task.group), task.lease === null ? -1 : this.agents.take(task.lease.agent))
    chunk.end(within, writer)
    this.end++
    this.enter(task, row, isKeyed)
  }

  /** Undoes the last {@link push}. */
  pop(): void {
    const row = this.end - 1
    this.leave(this.taskAt(row), row)
    this.end = row
    this.oldest = undefined
  }

  /** Removes a task, of which this is a record. */
  remove(task: TaskRecord): RemovedRow {
    const row = this.rowOf(task.number)
    const { front } = this
    const { group, agent, isKeyed } = this.leave(task, row)
    const passed: Array<number> = []
    const dropped: Array<Chunk> = []
    if (row > front) this.gone.add(row)
    else {
      this.front++
      for (; this.gone.delete(this.front); this.front++) passed.push(this.front)
      for (; (this.firstChunk + 1) * chunkRows <= this.front; this.firstChunk++) dropped.push(this.chunks.shift() as Chunk)
      this.oldest = undefined
    }
    return { task, row, group, agent, isKeyed, front, passed, dropped }
  }

  /** Undoes a {@link remove}. */
  putBack({ task, row, group, agent, isKeyed, front, passed, dropped }: RemovedRow): void {
    this.chunks.unshift(...dropped)
    this.firstChunk -= dropped.length
    this.front = front
    for (const each of passed) this.gone.add(each)
    this.gone.delete(row)
    this.oldest = undefined
    this.groups.restore(group, task.group)
    if (task.lease !== null) this.agents.restore(agent, task.lease.agent)
    this.enter(task, row, isKeyed)
  }

  /** Writes a task again, of which nothing has changed that an index has, nor group and agent. Returns the undo. */
  rewrite(task: TaskRecord): () => void {
    const row = this.rowOf(task.number)
    writer.begin(new Uint8Array(rewrittenBytes), 0)
    writeTask(writer, task, this.groups.indexOf(task.group), task.lease === null ? -1 : this.agents.indexOf(task.lease.agent))
    const before = this.chunkOf(row).rewrite(row % chunkRows, writer.end().slice(0, writer.length))
    return () => this.chunkOf(row).rewrite(row % chunkRows, before)
  }

  private enter({ id, key, number }: TaskRecord, row: number, isKeyed: boolean): void {
    this.rowOfId.add(id, row)
    this.rowOfNumber.add(number, row)
    if (isKeyed) this.rowOfKey.add(key, row)
    this.numbers.add(number)
  }

  private leave({ id, key, number, group, lease }: TaskRecord, row: number): Pick<RemovedRow, 'group' | 'agent' | 'isKeyed'> {
    this.rowOfId.remove(id)
    this.rowOfNumber.remove(number)
    this.numbers.remove(number)
    const keyed = this.rowOfKey.get(key)
    const isKeyed = keyed !== undefined && this.whole(keyed) === row
    if (isKeyed) this.rowOfKey.remove(key)
    return { group: this.groups.drop(group), agent: lease === null ? -1 : this.agents.drop(lease.agent), isKeyed }
  }

  /** The row with these last 32 bits. */
  private whole(row: number): number {
    return this.front + ((row - this.front) >>> 0)
  }

  private recordAt(row: number | undefined): TaskRecord | undefined {
    return row === undefined ? undefined : this.taskAt(this.whole(row))
  }

  private taskAt(row: number): TaskRecord {
    return this.read(row, this.reader)
  }

  private chunkOf(row: number): Chunk {
    return this.chunks[Math.floor(row / chunkRows) - this.firstChunk] as Chunk
  }

  private read<T>(row: number, read: (bytes: Uint8Array, start: number) => T): T {
    return this.chunkOf(row).at(row % chunkRows, read)
  }

  private readonly groupAt = (index: number): Group => this.groups.get(index)
  private readonly agentAt = (index: number): string => this.agents.get(index)
  private readonly reader = (bytes: Uint8Array, start: number): TaskRecord => readTask(bytes, start, this.groupAt, this.agentAt)
}

/** Never 0. */
const hashOfNumber = (number: number, seed: number): number => {
  const hash = Math.imul((number | 0) ^ Math.imul(Math.floor(number / 2 ** 32), 0x85ebca6b) ^ seed, 0x9e3779b1)
  return hash === 0 ? 1 : hash
}
