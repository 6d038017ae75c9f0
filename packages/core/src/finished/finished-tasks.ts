/**
 * The finished tasks of a queue that are still known, in the order in which they finished. They hardly change, and there may be many millions of
 * them. So a task is a row of bytes in arrays outside the heap, not a record ([ADR 40](../../../../docs/adr/0040-finished-tasks.md)). A record is
 * made anew for each call: compare numbers, not records.
 *
 * Tasks are evicted from the front when their retention is over. All changes can be undone, newest first.
 */
import type { Group } from '../records/group.js'
import { blocksDuplicates, type TaskRecord } from '../records/records.js'
import { ByteWriter } from '../rows/bytes.js'
import { FinishedWalk, type KeptPage, type RowsPage } from './finished-walk.js'
import { Interned } from './interned.js'
import { NumberRows } from './number-rows.js'
import { RowIndex } from './row-index.js'
import type { KeptRows, RowStore } from '../rows/row-store.js'
import { type AdoptedRows, type RemovedPlace, Rows } from './rows.js'
import { finalStatusIn, finishedAtOf, idAt, idCheckIn, idHashAt, keyAt, keyCheckIn, keyHashAt, readTask, writeTask } from '../rows/task-bytes.js'
import { checkOfText, hashOfText } from '../rows/text-hash.js'

/** All that is needed to put a removed row back. */
export interface RemovedRow {
  readonly task: TaskRecord
  readonly group: number
  readonly agent: number
  readonly place: RemovedPlace
  /** Whether the task blocked new tasks with its key as duplicates. */
  readonly isKeyed: boolean
}

/** The names in a snapshot, by the numbers that its rows use. */
export interface LoadedNames {
  readonly groupOf: (index: number) => Group | undefined
  readonly agentOf: (index: number) => string | undefined
}

/** Called for each task of a snapshot. `group`: the number of its group. `standing`: see `rows/task-bytes.ts`. `task`: the record, if the state has another index of the task. */
export type Joins = (number: number, group: number, standing: number, task: TaskRecord | undefined) => void

/** Shared by all instances: it keeps nothing between two calls. */
const writer = new ByteWriter()
/** Most rows are smaller than this. */
const rewrittenBytes = 256
const noRows: ReadonlySet<never> = new Set()

/** Finished tasks by one of their texts. */
export class FinishedByText {
  constructor(
    private readonly rows: RowIndex,
    private readonly taskAt: (row: number) => TaskRecord,
  ) {}

  get size(): number {
    return this.rows.size
  }

  get(text: string): TaskRecord | undefined {
    const row = this.rows.get(text)
    return row === undefined ? undefined : this.taskAt(row)
  }

  has(text: string): boolean {
    return this.rows.get(text) !== undefined
  }
}

export class FinishedTasks {
  /** Indexes keep the last 32 bits of a row's number. */
  private readonly rows: Rows
  private readonly groups = new Interned<Group>()
  private readonly agents = new Interned<string>()
  private readonly rowOfId: RowIndex
  private readonly rowOfKey: RowIndex
  readonly byId: FinishedByText
  /** Only those that block new ones with the same key as duplicates. */
  readonly byKey: FinishedByText
  private readonly rowOfNumber = new NumberRows()
  /** When the first task finished; kept once it was asked for. */
  private oldest: number | undefined
  private readonly idHash: (bytes: Uint8Array, start: number) => number
  private readonly keyHash: (bytes: Uint8Array, start: number) => number

  constructor(seed: number, store?: RowStore) {
    this.rows = new Rows(seed, store)
    const hash = (text: string): number => hashOfText(text, seed)
    this.idHash = (bytes, start) => idHashAt(bytes, start, seed)
    this.keyHash = (bytes, start) => keyHashAt(bytes, start, seed)
    // With 10,000,000 tasks, one look-up of 400 finds a hash of another text. To read its chunk takes 0.2 ms, and longer from a disk.
    const isOther = (checkIn: (checks: number) => number) => (row: number, text: string): boolean => {
      const checks = this.rows.checksOf(this.whole(row))
      return checks !== undefined && checkIn(checks) !== checkOfText(text, seed)
    }
    this.rowOfId = new RowIndex((row) => this.rows.at(this.whole(row), idAt), hash, isOther(idCheckIn))
    this.rowOfKey = new RowIndex((row) => this.rows.at(this.whole(row), keyAt), hash, isOther(keyCheckIn))
    this.byId = new FinishedByText(this.rowOfId, (row) => this.taskAt(this.whole(row)))
    this.byKey = new FinishedByText(this.rowOfKey, (row) => this.taskAt(this.whole(row)))
  }

  get size(): number {
    return this.rowOfId.size
  }

  /** Size of its arrays outside the heap, in bytes. */
  get bytes(): number {
    return this.rowOfId.bytes + this.rowOfKey.bytes + this.rowOfNumber.bytes + this.rows.bytes
  }

  /** About how many of the tasks are in a store. */
  get inStore(): number {
    return this.rows.inStore
  }

  /** Number of groups and agents that rows refer to. */
  get names(): number {
    return this.groups.size + this.agents.size
  }

  /** When the first task finished; `undefined` if there is none. Finish times grow from the first to the last task, except in a damaged log. */
  get oldestAt(): number | undefined {
    if (this.size === 0) return undefined
    return (this.oldest ??= this.rows.at(this.rows.front, finishedAtOf))
  }

  byNumber(number: number): TaskRecord | undefined {
    const row = this.rowOfNumber.get(number)
    return row === undefined ? undefined : this.taskAt(this.whole(row))
  }

  /** The least number above `number`; `undefined` if there is none. */
  numberAfter(number: number): number | undefined {
    return this.rowOfNumber.from(number + 1)
  }

  first(): TaskRecord | undefined {
    return this.size === 0 ? undefined : this.taskAt(this.rows.front)
  }

  /** All tasks in the order in which they finished. They must not change meanwhile. */
  *[Symbol.iterator](): IterableIterator<TaskRecord> {
    const { rows } = this
    for (let row = rows.front; row < rows.end; row++) if (rows.has(row)) yield this.taskAt(row)
  }

  /** Walks over all tasks as they are now, while they change. {@link FinishedWalk.end} must be called. */
  walk(): FinishedWalk {
    return new FinishedWalk(this.rows, this.groups, this.agents)
  }

  /** The row of the finished task with this number. */
  rowOf(number: number): number {
    const row = this.rowOfNumber.get(number)
    if (row === undefined) throw new Error(`no finished task has the number ${number}`)
    return this.whole(row)
  }

  /** Adds a task that has just finished. `isKeyed`: it blocks new tasks with its key as duplicates. */
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

  /** Removes the task of this record. */
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

  /** Rewrites a task. Neither an indexed field nor its group or agent may have changed. Returns the undo. */
  rewrite(task: TaskRecord): () => void {
    const row = this.rowOf(task.number)
    writer.begin(new Uint8Array(rewrittenBytes), 0)
    writeTask(writer, task, this.groups.indexOf(task.group), task.lease === null ? -1 : this.agents.indexOf(task.lease.agent))
    const before = this.rows.rewrite(row, writer.end().slice(0, writer.length))
    return () => this.rows.rewrite(row, before)
  }

  /** Reserves room for this many tasks. Must be called before the first task is added. */
  reserve(tasks: number): void {
    this.rowOfId.reserve(tasks)
    this.rowOfKey.reserve(tasks)
  }

  /** Adds the next rows of a snapshot. `names`: what the rows' numbers for groups and agents mean. */
  loadRows({ lengths, bytes }: RowsPage, names: LoadedNames, joins: Joins): void {
    this.load(this.rows.adopt(lengths, bytes), noRows, names, joins)
  }

  /** The same with a chunk that is in a store. None of its rows is read. Its hashes must have been made with the same seed. */
  loadKept(kept: KeptRows, { absent, rewritten }: Omit<KeptPage, 'place'>, names: LoadedNames, joins: Joins): void {
    this.load(this.rows.adoptKept(kept, absent, rewritten), new Set(rewritten.map(([row]) => row)), names, joins)
  }

  /** `rewritten`: the columns say what these rows were before. */
  private load({ from, columns }: AdoptedRows, rewritten: ReadonlySet<number>, { groupOf, agentOf }: LoadedNames, joins: Joins): void {
    const { numbers, groups, agents, standings, indexed, idHashes, keyHashes } = columns
    const { end } = this.rows
    const hasAll = this.rows.hasAll(from, end)
    this.oldest = undefined
    for (let row = from, i = 0; row < end; row++, i++) {
      if (!hasAll && !this.rows.has(row)) continue
      const number = numbers[i] as number
      const group = groups[i] as number
      const agent = agents[i] as number
      const standing = standings[i] as number
      this.groups.count(group, groupOf)
      if (agent >= 0) this.agents.count(agent, agentOf)
      this.rowOfNumber.addLater(number, row)
      this.rowOfId.addLater(idHashes[i] as number, row)
      if (blocksDuplicates(finalStatusIn(standing))) this.rowOfKey.addLater(keyHashes[i] as number, row)
      joins(number, group, standing, indexed[i] === 1 || rewritten.has(i) ? this.taskAt(row) : undefined)
    }
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

  /** The number of the row with these last 32 bits. */
  private whole(row: number): number {
    const { front } = this.rows
    return front + ((row - front) >>> 0)
  }

  private taskAt(row: number): TaskRecord {
    return this.rows.at(row, this.reader)
  }

  private readonly reader = (bytes: Uint8Array, start: number): TaskRecord => readTask(bytes, start, this.groups, this.agents)
}
