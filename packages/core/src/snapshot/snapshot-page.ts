/**
 * The pages of a snapshot. Tasks are rows of bytes (`rows/task-bytes.ts`), so that a state can take them as they are and make the records later.
 *
 * Pages of finished tasks hold rows as they are in memory (`finished/finished-walk.ts`), or the places where a store has them. They follow the pages of
 * names to which the rows refer. A page of unfinished tasks has its own names of agents, and those groups that no such page before it had.
 */
import { ByteWriter } from '../rows/bytes.js'
import type { KeptPage, NamesPage, RowsPage } from '../finished/finished-walk.js'
import type { RowsPlace } from '../rows/row-store.js'
import { isIndexed, standingOf, writeTask } from '../rows/task-bytes.js'
import { columnsIn, type TaskColumns, taskColumns } from '../rows/columns.js'
import type { Group } from '../records/group.js'
import { pageTasks } from '../rows/loaded-tasks.js'
import type { TaskRecord } from '../records/records.js'
import type { Phase } from '../model/task.js'
import { hashOf } from '../structures/text-index.js'

/** `head`: everything but tasks. `names`, `rows`, `places`: of finished tasks. `changed`: the numbers of tasks that changed, in an increment. `tasks`: unfinished tasks. */
export const pageKinds = ['head', 'names', 'rows', 'places', 'changed', 'tasks'] as const
export type PageKind = (typeof pageKinds)[number]

export interface SnapshotPage {
  readonly kind: PageKind
  readonly text: string
  readonly rows: number
  /** One column of numbers for all rows after the other. */
  readonly numbers: Float64Array
  /** Of tasks, their rows; the numbers are the lengths of these, and for unfinished tasks more columns (`rows/columns.ts`). Of places, the rewritten rows. */
  readonly bytes?: Uint8Array<ArrayBuffer>
  /** Only in a page of places that was just made: the files of the store to which it refers. */
  readonly files?: ReadonlySet<string>
}

/** Names of groups and agents of finished tasks. */
export interface NamesText {
  readonly groups: ReadonlyArray<GroupText | null>
  readonly agents: ReadonlyArray<string | null>
}
const noNumbers = new Float64Array(0)

export const pageOfNames = ({ groups, agents }: NamesPage): SnapshotPage => {
  const text: NamesText = { groups: groups.map((group) => (group === undefined ? null : textOf(group))), agents: agents.map((agent) => agent ?? null) }
  return { kind: 'names', text: JSON.stringify(text), rows: 0, numbers: noNumbers }
}

export const namesIn = ({ text }: SnapshotPage): NamesText => JSON.parse(text) as NamesText

export const pageOfRows = ({ lengths, bytes }: RowsPage): SnapshotPage => ({ kind: 'rows', text: '', rows: lengths.length, numbers: lengths, bytes })

/** A chunk in a store: its place, the rows that were removed, and the lengths of the rewritten rows, whose bytes the page has. */
type PlaceText = readonly [file: string, at: RowsPlace['at'], absent: ReadonlyArray<number>, rewritten: ReadonlyArray<readonly [row: number, length: number]>]

/** A page of places. It has a row for each chunk; the numbers are how many tasks each chunk has. */
export const pageOfKept = (kept: ReadonlyArray<KeptPage>, chunkRows: number): SnapshotPage => {
  const rewritten = kept.flatMap((each) => each.rewritten)
  const bytes = new Uint8Array(rewritten.reduce((sum, [, { length }]) => sum + length, 0))
  let at = 0
  for (const [, each] of rewritten) {
    bytes.set(each, at)
    at += each.length
  }
  const text: ReadonlyArray<PlaceText> = kept.map(({ place, absent, rewritten: others }) => [place.file, place.at, absent, others.map(([row, { length }]) => [row, length] as const)])
  return { kind: 'places', text: JSON.stringify(text), rows: kept.length, numbers: Float64Array.from(kept, ({ absent }) => chunkRows - absent.length), bytes, files: new Set(kept.map(({ place }) => place.file)) }
}

/** The chunks of a page of places; empty for any other page. Throws if the page is malformed. */
export const keptIn = ({ kind, text, bytes = noBytes }: SnapshotPage): ReadonlyArray<KeptPage> => {
  if (kind !== 'places') return []
  let at = 0
  return (JSON.parse(text) as ReadonlyArray<PlaceText>).map(([file, numbers, absent, rewritten]) => ({
    place: { file, at: numbers },
    absent,
    rewritten: rewritten.map(([row, length]) => [row, bytes.subarray(at, (at += length))] as const),
  }))
}

/** A page of the numbers of tasks that changed, in an increment. */
export const pageOfChanged = (numbers: ReadonlyArray<number>): SnapshotPage => ({ kind: 'changed', text: '', rows: numbers.length, numbers: Float64Array.from(numbers) })

/** How many tasks are in a page. */
export const tasksInPage = ({ kind, rows, numbers }: SnapshotPage): number => {
  switch (kind) {
    case 'tasks':
      return rows
    case 'rows':
      return numbers.filter((length) => length > 0).length
    case 'places':
      return numbers.reduce((sum, tasks) => sum + tasks, 0)
    default:
      return 0
  }
}

/** Type, phase, skills, tenant and concurrency key. */
export type GroupText = readonly [string, Phase | null, ReadonlyArray<string>, string | null, string | null]

/** Names that the rows of a page of unfinished tasks have numbers for. */
export interface TaskNames {
  readonly agents: ReadonlyArray<string>
  /** The groups that no earlier page had: they get the next numbers. */
  readonly groups: ReadonlyArray<GroupText>
}

/** Where the rows of a page are written before their number of bytes is known. Shared: only one page has it at a time. */
let room: Uint8Array<ArrayBuffer> = new Uint8Array(128 * pageTasks)

/** A page of unfinished tasks that is being made. It has room for {@link pageTasks}. */
export class NewTaskPage {
  /** Rows are written into it. */
  readonly writer = new ByteWriter()
  rows = 0
  private readonly all = new Float64Array(taskColumns.length * pageTasks)
  private readonly columns = columnsIn(taskColumns, this.all, pageTasks)
  private readonly agents = new Map<string, number>()
  private readonly groups: Array<GroupText> = []
  private written = 0

  constructor() {
    this.writer.begin(room, 0)
    room = noBytes
  }

  /** The number of an agent in this page. */
  readonly agent = (name: string): number => indexOf(this.agents, name)

  /** Names a group that no earlier page had. */
  addGroup(group: GroupText): void {
    this.groups.push(group)
  }

  /** Ends the row that was just written. */
  end(number: number, group: number, standing: number, isIndexed: boolean, idHash: number, keyHash: number): void {
    const { columns, writer } = this
    const row = this.rows++
    columns.lengths[row] = writer.length - this.written
    columns.numbers[row] = number
    columns.groups[row] = group
    columns.standings[row] = standing
    columns.indexed[row] = isIndexed ? 1 : 0
    columns.idHashes[row] = idHash
    columns.keyHashes[row] = keyHash
    this.written = writer.length
  }

  /** The page. Nothing can be added to it after that. */
  finish(): SnapshotPage {
    const { rows, written } = this
    room = this.writer.end()
    const names: TaskNames = { agents: [...this.agents.keys()], groups: this.groups }
    const numbers = new Float64Array(taskColumns.length * rows)
    taskColumns.forEach((name, at) => numbers.set(this.columns[name].subarray(0, rows), at * rows))
    return { kind: 'tasks', text: JSON.stringify(names), rows, numbers, bytes: room.slice(0, written) }
  }
}

/** A page of `tasks`. `groups`: the numbers of the groups of earlier pages. New groups are added. `seed`: that of the hashes. */
export const pageOf = (tasks: ReadonlyArray<TaskRecord>, groups: Map<Group, number>, seed: number): SnapshotPage => {
  const page = new NewTaskPage()
  for (const task of tasks) {
    const known = groups.size
    const group = indexOf(groups, task.group)
    if (groups.size > known) page.addGroup(textOf(task.group))
    writeTask(page.writer, task, group, task.lease === null ? -1 : page.agent(task.lease.agent))
    page.end(task.number, group, standingOf(task), isIndexed(task), hashOf(task.id, seed), hashOf(task.key, seed))
  }
  return page.finish()
}

/** The columns of a page of unfinished tasks. Throws if it has too few numbers, or too many. */
export const taskColumnsIn = ({ numbers, rows }: SnapshotPage): TaskColumns => columnsIn(taskColumns, numbers, rows)

/** The index of `value` among the distinct values so far, which the map keeps in order. A new value is added. */
export const indexOf = <T>(known: Map<T, number>, value: T): number => {
  const index = known.get(value) ?? known.size
  if (index === known.size) known.set(value, index)
  return index
}

const textOf = ({ type, phase, skills, tenant, concurrencyKey }: Group): GroupText => [type, phase ?? null, skills, tenant ?? null, concurrencyKey ?? null]

/** The names in a page of unfinished tasks. */
export const taskNamesIn = ({ text }: SnapshotPage): TaskNames => JSON.parse(text) as TaskNames

const noBytes = new Uint8Array(0)
