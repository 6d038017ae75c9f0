/**
 * Pages of unfinished tasks, by column: all numbers in one array, column after column, and the rest as one JSON text. The queue waits while its state
 * is read, and copying a record's numbers costs a twentieth of printing them as JSON.
 *
 * Pages of finished tasks hold their rows as they are (`finished/finished-walk.ts`), or the places where a store has them. They follow the pages of
 * names to which the rows refer.
 */
import type { KeptPage, NamesPage, RowsPage } from '../finished/finished-walk.js'
import type { RowsPlace } from '../finished/row-store.js'
import type { Group } from '../state/group.js'
import { leaseEnds, newTaskRecord, noExtras, type TaskExtras, type TaskRecord } from '../state/state.js'
import type { NumberSet } from '../structures/number-set.js'
import { type Phase, type Status, statuses } from '../model/task.js'

/** Number of tasks in a full page. */
export const pageTasks = 1_024

export interface SnapshotPage {
  readonly text: string
  readonly rows: number
  /** The values of the first column for all rows, then those of the second, and so on. */
  readonly numbers: Float64Array
  /** Only in pages of finished tasks. With rows: their bytes, and the numbers are their lengths. With places: the bytes of the rewritten rows. */
  readonly bytes?: Uint8Array<ArrayBuffer>
  /** Only in a page of places that was just made: the files of the store to which it refers. */
  readonly files?: ReadonlySet<string>
}

/** Names of groups and agents of finished tasks. Only pages of names, and the first page, have neither rows nor bytes. */
export interface NamesText {
  readonly groups: ReadonlyArray<GroupText | null>
  readonly agents: ReadonlyArray<string | null>
}
const noNumbers = new Float64Array(0)

export const pageOfNames = ({ groups, agents }: NamesPage): SnapshotPage => {
  const text: NamesText = { groups: groups.map((group) => (group === undefined ? null : textOf(group))), agents: agents.map((agent) => agent ?? null) }
  return { text: JSON.stringify(text), rows: 0, numbers: noNumbers }
}

export const pageOfRows = ({ lengths, bytes }: RowsPage): SnapshotPage => ({ text: '', rows: lengths.length, numbers: lengths, bytes })

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
  return { text: JSON.stringify(text), rows: kept.length, numbers: Float64Array.from(kept, ({ absent }) => chunkRows - absent.length), bytes, files: new Set(kept.map(({ place }) => place.file)) }
}

/** The chunks of a page of places; empty for any other page. Throws if the page is malformed. */
export const keptIn = ({ text, bytes }: SnapshotPage): ReadonlyArray<KeptPage> => {
  if (bytes === undefined || text === '') return []
  let at = 0
  return (JSON.parse(text) as ReadonlyArray<PlaceText>).map(([file, numbers, absent, rewritten]) => ({
    place: { file, at: numbers },
    absent,
    rewritten: rewritten.map(([row, length]) => [row, bytes.subarray(at, (at += length))] as const),
  }))
}

/** A page of the numbers of tasks that changed, in an increment. Only such a page has rows without text or bytes. */
export const pageOfChanged = (numbers: ReadonlyArray<number>): SnapshotPage => ({ text: '', rows: numbers.length, numbers: Float64Array.from(numbers) })

export const isPageOfChanged = ({ text, rows, bytes }: SnapshotPage): boolean => text === '' && rows > 0 && bytes === undefined

/** How many tasks are in a page. */
export const tasksInPage = (page: SnapshotPage): number => (isPageOfChanged(page) ? 0 : page.bytes === undefined ? page.rows : page.text === '' ? page.numbers.filter((length) => length > 0).length : page.numbers.reduce((sum, tasks) => sum + tasks, 0))

/** Everything that is not a number. */
interface Texts {
  readonly id: ReadonlyArray<string>
  readonly key: ReadonlyArray<string>
  /** Names of the agents that hold, or held, a task of the page. */
  readonly agents: ReadonlyArray<string>
  readonly dependencies: Few<ReadonlyArray<string>>
  readonly extras: Few<TaskExtras>
  /** The groups that no earlier page had: they get the next numbers. */
  readonly groups: ReadonlyArray<GroupText>
}
/** Type, phase, skills, tenant and concurrency key. */
export type GroupText = readonly [string, Phase | null, ReadonlyArray<string>, string | null, string | null]
/** A field that most tasks do not have: the rows that have it, each with its value. */
type Few<T> = Array<readonly [row: number, value: T]>

/** The columns. A column that refers to a list holds an index; -1 for none. */
const column = {
  number: 0,
  group: 1,
  priority: 2,
  timeout: 3,
  maxRetries: 4,
  backoffSeconds: 5,
  enqueuedAt: 6,
  enqueuedRevision: 7,
  status: 8,
  retries: 9,
  attempts: 10,
  delayedUntil: 11,
  lastRevision: 12,
  /** The agent of the last claim. Without one, the columns after it mean nothing. */
  agent: 13,
  token: 14,
  claimedAt: 15,
  expiresAt: 16,
  epoch: 17,
  probe: 18,
  end: 19,
  durationMs: 20,
  missing: 21,
} as const
const columns = Object.keys(column).length

/** A page of `tasks`. `groups`: the numbers of the groups of earlier pages. New groups are added. */
export const pageOf = (tasks: ReadonlyArray<TaskRecord>, groups: Map<Group, number>): SnapshotPage => {
  const rows = tasks.length
  const numbers = new Float64Array(rows * columns)
  const ids: Array<string> = []
  const keys: Array<string> = []
  const agents = new Map<string, number>()
  const dependencies: Few<ReadonlyArray<string>> = []
  const extras: Few<TaskExtras> = []
  const newGroups: Array<GroupText> = []
  const numberOf = (group: Group): number => {
    const before = groups.size
    const number = indexOf(groups, group)
    if (groups.size > before) newGroups.push(textOf(group))
    return number
  }
  for (let row = 0; row < rows; row++) {
    const task = tasks[row] as TaskRecord
    const { lease } = task
    ids.push(task.id)
    keys.push(task.key)
    if (task.dependencies.length > 0) dependencies.push([row, task.dependencies])
    if (task.extras !== noExtras && !isEmpty(task.extras)) extras.push([row, task.extras])
    numbers[column.number * rows + row] = task.number
    numbers[column.group * rows + row] = numberOf(task.group)
    numbers[column.priority * rows + row] = task.priority
    numbers[column.timeout * rows + row] = task.timeout
    numbers[column.maxRetries * rows + row] = task.maxRetries
    numbers[column.backoffSeconds * rows + row] = task.backoffSeconds
    numbers[column.enqueuedAt * rows + row] = task.enqueuedAt
    numbers[column.enqueuedRevision * rows + row] = task.enqueuedRevision
    numbers[column.status * rows + row] = statuses.indexOf(task.status)
    numbers[column.retries * rows + row] = task.retries
    numbers[column.attempts * rows + row] = task.attempts
    numbers[column.delayedUntil * rows + row] = task.delayedUntil
    numbers[column.lastRevision * rows + row] = task.lastRevision
    numbers[column.missing * rows + row] = task.missing
    if (lease === null) {
      numbers[column.agent * rows + row] = -1
      continue
    }
    numbers[column.agent * rows + row] = indexOf(agents, lease.agent)
    numbers[column.token * rows + row] = lease.token
    numbers[column.claimedAt * rows + row] = lease.claimedAt
    numbers[column.expiresAt * rows + row] = lease.expiresAt
    numbers[column.epoch * rows + row] = lease.epoch
    numbers[column.probe * rows + row] = lease.probe ? 1 : 0
    numbers[column.end * rows + row] = lease.end === null ? -1 : leaseEnds.indexOf(lease.end)
    numbers[column.durationMs * rows + row] = lease.durationMs
  }
  const texts: Texts = { id: ids, key: keys, agents: [...agents.keys()], dependencies, extras, groups: newGroups }
  return { text: JSON.stringify(texts), rows, numbers }
}

/** The index of `value` among the distinct values so far, which the map keeps in order. A new value is added. */
const indexOf = <T>(known: Map<T, number>, value: T): number => {
  const index = known.get(value) ?? known.size
  if (index === known.size) known.set(value, index)
  return index
}

const textOf = ({ type, phase, skills, tenant, concurrencyKey }: Group): GroupText => [type, phase ?? null, skills, tenant ?? null, concurrencyKey ?? null]

const isEmpty = (value: object): boolean => {
  for (const _ in value) return false
  return true
}

/** The groups of a snapshot's pages, by number. A group is made with its first task, because making one has effects on the state. */
export class PageGroups {
  private readonly made: Array<Group | undefined> = []
  private readonly texts: Array<GroupText> = []

  constructor(private readonly groupOf: (text: GroupText) => Group) {}

  add(text: GroupText): void {
    this.texts.push(text)
  }

  /** Throws if no page so far has the number. */
  at(number: number): Group {
    const known = this.made[number]
    if (known !== undefined) return known
    const text = this.texts[number]
    if (text === undefined) throw new Error(`no page names the group ${number}`)
    return (this.made[number] = this.groupOf(text))
  }
}

/**
 * The tasks of a page whose numbers are not in `superseded`. `groups`: the groups of earlier pages; those of this page are added. `shared` returns one
 * string for equal names of agents. Throws if it is not a page.
 */
export const tasksOf = (
  { text, rows, numbers }: SnapshotPage,
  groups: PageGroups,
  shared: (agent: string) => string,
  superseded: NumberSet,
): ReadonlyArray<TaskRecord> => {
  const texts = JSON.parse(text) as Texts
  const { id, key } = texts
  if (numbers.length !== rows * columns || id.length !== rows || key.length !== rows) {
    throw new Error(`a page of ${rows} tasks has ${numbers.length} numbers, ${id.length} ids and ${key.length} keys`)
  }
  for (const group of texts.groups) groups.add(group)
  const agents = texts.agents.map(shared)
  const dependenciesAt = fewOf(texts.dependencies)
  const rareAt = fewOf(texts.extras)
  const tasks: Array<TaskRecord> = []
  for (let row = 0; row < rows; row++) {
    const get = (at: number): number => whole(numbers[at * rows + row] as number)
    if (superseded.size > 0 && superseded.has(get(column.number))) continue
    const task = newTaskRecord({
      number: get(column.number),
      id: id[row] as string,
      key: key[row] as string,
      group: groups.at(get(column.group)),
      priority: get(column.priority),
      timeout: get(column.timeout),
      maxRetries: get(column.maxRetries),
      backoffSeconds: get(column.backoffSeconds),
      enqueuedAt: get(column.enqueuedAt),
      enqueuedRevision: get(column.enqueuedRevision),
      dependencies: dependenciesAt(row) ?? noIds,
      status: statuses[get(column.status)] as Status,
      retries: get(column.retries),
      missing: get(column.missing),
      delayedUntil: get(column.delayedUntil),
      finishedAt: 0,
      extras: rareAt(row) ?? noExtras,
    })
    task.attempts = get(column.attempts)
    task.lastRevision = get(column.lastRevision)
    const agent = agents[get(column.agent)]
    if (agent !== undefined) {
      task.lease = {
        agent,
        token: get(column.token),
        claimedAt: get(column.claimedAt),
        expiresAt: get(column.expiresAt),
        durationMs: get(column.durationMs),
        epoch: get(column.epoch),
        probe: get(column.probe) === 1,
        end: leaseEnds[get(column.end)] ?? null,
      }
    }
    tasks.push(task)
  }
  return tasks
}
const noIds: ReadonlyArray<string> = []

/** Returns a function for the value of a row. Its calls must have growing rows, and may leave some out. */
const fewOf = <T>(few: Few<T>): ((row: number) => T | undefined) => {
  let at = 0
  return (row) => {
    while (at < few.length && (few[at] as Few<T>[number])[0] < row) at++
    return few[at]?.[0] === row ? few[at++]?.[1] : undefined
  }
}

/** V8 boxes a number that is read from a Float64Array. As a small integer it needs no object of its own in each field. */
const whole = (value: number): number => {
  const small = value | 0
  return small === value ? small : value
}
