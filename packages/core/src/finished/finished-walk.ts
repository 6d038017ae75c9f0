/**
 * Walks over the finished tasks as they are at one moment, while they change. It returns them as records, or as pages of a snapshot, which take the
 * bytes of rows as they are.
 *
 * The bytes of a row stay where they are when it is removed. So the walk keeps the chunks of its beginning, and notes which rows have been removed
 * since. Rows have numbers for groups and agents; no such number gets another meaning until the walk is over.
 */
import type { Group } from '../records/group.js'
import type { TaskRecord } from '../records/records.js'
import type { Chunk } from './chunk.js'
import type { Interned } from './interned.js'
import { chunkRows } from '../rows/row-bytes.js'
import type { RowsPlace } from '../rows/row-store.js'
import type { Rows } from './rows.js'
import { readTask } from '../rows/task-bytes.js'

/** All rows of a chunk, one after the other. A row of length 0 has been removed. */
export interface RowsPage {
  readonly lengths: Float64Array
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** A full chunk whose bytes are in a store. */
export interface KeptPage {
  readonly place: RowsPlace
  /** The rows of the chunk that were removed. */
  readonly absent: ReadonlyArray<number>
  /** The rewritten rows, as they were at the beginning. */
  readonly rewritten: ReadonlyArray<readonly [row: number, bytes: Uint8Array]>
}

/** The next groups and agents, in the order of the numbers that rows have for them; `undefined` for a number that is not in use. */
export interface NamesPage {
  readonly groups: ReadonlyArray<Group | undefined>
  readonly agents: ReadonlyArray<string | undefined>
}

export class FinishedWalk {
  private readonly endRow: number
  /** Number of the next row. */
  private row: number
  private readonly first: number
  private chunks: ReadonlyArray<Chunk>
  /** Rows that were removed since the beginning, and the former bytes of rows that were rewritten. */
  private readonly left = new Set<number>()
  private readonly before = new Map<number, Uint8Array>()
  private nextGroup = 0
  private readonly endGroup: number
  private nextAgent = 0
  private readonly endAgent: number
  private isOver = false

  constructor(
    private readonly rows: Rows,
    private readonly groups: Interned<Group>,
    private readonly agents: Interned<string>,
  ) {
    const { front, end, chunks, first } = rows.now()
    this.row = front
    this.endRow = front === end ? front : end
    this.first = first
    this.chunks = chunks
    groups.hold()
    agents.hold()
    this.endGroup = groups.end
    this.endAgent = agents.end
  }

  /** Must be called before a row is removed. */
  beforeLeaving(row: number): void {
    if (this.isToCome(row)) this.left.add(row)
  }

  /** Must be called before a row is rewritten. */
  beforeChange(row: number): void {
    if (this.isToCome(row) && !this.before.has(row)) this.before.set(row, this.bytesOf(row))
  }

  /** The next record. `undefined` after the last one. */
  nextTask(): TaskRecord | undefined {
    for (; this.row < this.endRow; this.pass(this.row + 1)) {
      if (!this.wasThere(this.row)) continue
      const task = readTask(this.bytesOf(this.row), 0, this.groups, this.agents)
      this.pass(this.row + 1)
      return task
    }
    return undefined
  }

  /** The next names, at most `max` groups and agents; `undefined` after the last. All names come before the rows. */
  nextNames(max: number): NamesPage | undefined {
    if (this.row === this.endRow) return undefined
    const groups: Array<Group | undefined> = []
    const agents: Array<string | undefined> = []
    while (groups.length < max && this.nextGroup < this.endGroup) groups.push(this.groups.get(this.nextGroup++))
    while (agents.length < max && this.nextAgent < this.endAgent) agents.push(this.agents.get(this.nextAgent++))
    return groups.length + agents.length === 0 ? undefined : { groups, agents }
  }

  /** The rows of the next chunk. `undefined` after the last one. */
  nextRows(): RowsPage | undefined {
    if (this.row === this.endRow) return undefined
    const chunk = this.chunkOf(this.row)
    const begin = this.row - (this.row % chunkRows)
    const end = Math.min(begin + chunkRows, this.endRow)
    const isAsItWas = this.left.size === 0 && this.before.size === 0 && this.rows.hasAll(begin, end)
    const page = (isAsItWas ? chunk.block(end - begin) : undefined) ?? this.putTogether(begin, end)
    this.pass(end)
    return page
  }

  /** The next chunk, if all of its bytes are in a store, so that it can be named instead of copied. Otherwise `undefined`. */
  nextKept(): KeptPage | undefined {
    const begin = this.row - (this.row % chunkRows)
    const end = begin + chunkRows
    if (this.row === this.endRow || end > this.endRow) return undefined
    const chunk = this.chunkOf(this.row)
    const { place } = chunk
    if (place === undefined) return undefined
    const absent: Array<number> = []
    if (this.row > begin || !this.rows.hasAll(begin, end)) {
      for (let row = begin; row < end; row++) if (row < this.row || !this.wasThere(row)) absent.push(row - begin)
    }
    const rewritten = Array.from(chunk.rewrittenRows, (row) => [row, this.before.get(begin + row) ?? chunk.bytesOf(row)] as const)
    this.pass(end)
    return { place, absent, rewritten }
  }

  end(): void {
    if (this.isOver) return
    this.isOver = true
    this.row = this.endRow
    this.chunks = []
    this.left.clear()
    this.before.clear()
    this.groups.release()
    this.agents.release()
  }

  private putTogether(begin: number, end: number): RowsPage {
    const each: Array<Uint8Array> = []
    for (let row = begin; row < end; row++) each.push(row >= this.row && this.wasThere(row) ? this.bytesOf(row) : noBytes)
    const lengths = Float64Array.from(each, ({ length }) => length)
    const bytes = new Uint8Array(lengths.reduce((sum, length) => sum + length, 0))
    let at = 0
    for (const part of each) {
      bytes.set(part, at)
      at += part.length
    }
    return { lengths, bytes }
  }

  /** Goes on to this row. */
  private pass(to: number): void {
    if (this.left.size > 0) for (let row = this.row; row < to; row++) this.left.delete(row)
    if (this.before.size > 0) for (let row = this.row; row < to; row++) this.before.delete(row)
    this.row = to
  }

  private isToCome(row: number): boolean {
    return row >= this.row && row < this.endRow
  }

  /** Whether the row was there at the beginning. */
  private wasThere(row: number): boolean {
    return this.left.has(row) || this.rows.has(row)
  }

  private bytesOf(row: number): Uint8Array {
    return this.before.get(row) ?? this.chunkOf(row).bytesOf(row % chunkRows)
  }

  private chunkOf(row: number): Chunk {
    return this.chunks[Math.floor((row - this.first) / chunkRows)] as Chunk
  }
}
const noBytes = new Uint8Array(0)
