/**
 * Makes a whole snapshot of an increment and all on which it is based, from their pages alone. No state is needed, so it can be done on any thread, and
 * no record is made.
 */
import { ByteWriter } from '../rows/bytes.js'
import { pageTasks } from '../rows/loaded-tasks.js'
import { rowBytesOf } from '../rows/row-bytes.js'
import { renameRow } from '../rows/task-bytes.js'
import { TaskColumns } from '../rows/task-columns.js'
import { haveSameSeed, headIn, type HeadText } from './head.js'
import { columnsIn, indexOf, taskNamesIn, pageOfTasks, roomForPage, type GroupText, type SnapshotPage } from './snapshot-page.js'
import { Superseded } from './superseded.js'

export interface SnapshotMerge {
  /** The next page, in the order of a {@link SnapshotReader}. Returns the pages of the whole snapshot that are complete. Throws if it is malformed. */
  readonly page: (page: SnapshotPage) => ReadonlyArray<SnapshotPage>
  /** Must be called before the pages of the base of an increment, after those of the increment. */
  readonly base: () => void
  /** Returns the rest. Throws if there are not as many tasks as the increment says. */
  readonly finish: () => ReadonlyArray<SnapshotPage>
}

const noBytes = new Uint8Array(0)

export const mergeSnapshots = (): SnapshotMerge => {
  let isBase = false
  let head: HeadText | undefined
  let written = 0
  const superseded = new Superseded()
  /** The numbers of groups in the whole snapshot, by their texts; and of the groups of the snapshot that is being read, by its numbers. */
  const numbers = new Map<string, number>()
  let renamed: Array<number> = []
  /** What the next page of tasks has so far. */
  const writer = new ByteWriter()
  let room = roomForPage()
  let rows = 0
  let columns = TaskColumns.for(pageTasks)
  let agents = new Map<string, number>()
  let newGroups: Array<GroupText> = []

  const numberOf = (group: GroupText): number => {
    const known = numbers.size
    const number = indexOf(numbers, JSON.stringify(group))
    if (number === known) newGroups.push(group)
    return number
  }

  /** Tasks that were gathered, as a page. Empty if there are none. */
  const gathered = (): ReadonlyArray<SnapshotPage> => {
    if (rows === 0) return []
    const page = pageOfTasks({ agents: [...agents.keys()], groups: newGroups }, columns.first(rows), room.slice(0, writer.length))
    written += rows
    rows = 0
    columns = TaskColumns.for(pageTasks)
    agents = new Map()
    newGroups = []
    writer.length = 0
    return [page]
  }

  const gather = (page: SnapshotPage): ReadonlyArray<SnapshotPage> => {
    const names = taskNamesIn(page)
    for (const group of names.groups) renamed.push(numberOf(group))
    const from = columnsIn(page)
    const { bytes, starts } = rowBytesOf(from.lengths, page.bytes ?? noBytes, page.rows)
    const pages: Array<SnapshotPage> = []
    writer.begin(room, writer.length)
    for (let row = 0; row < page.rows; row++) {
      const number = from.number(row)
      if (superseded.has(number)) continue
      const before = writer.length
      renameRow(writer, bytes, starts[row] as number, starts[row + 1] as number, (group) => renamed[group] as number, (agent) => indexOf(agents, names.agents[agent] as string))
      const group = renamed[from.group(row)] as number
      columns.put(rows++, { length: writer.length - before, number, group, band: from.band(row), isIndexed: from.isIndexed(row), idHash: from.idHash(row), keyHash: from.keyHash(row) })
      if (rows < pageTasks) continue
      room = writer.end()
      pages.push(...gathered())
      writer.begin(room, 0)
    }
    room = writer.end()
    return pages
  }

  return {
    page: (page) => {
      if (page.kind === 'tasks') return gather(page)
      if (page.kind === 'changed') superseded.add(page.numbers)
      if (page.kind === 'head') {
        const text = headIn(page)
        if (head === undefined) head = text
        else haveSameSeed(head, text)
      }
      if (isBase || page.kind === 'changed') return []
      return [page]
    },
    base: () => {
      superseded.nextBase()
      renamed = []
      isBase = true
    },
    finish: () => {
      const pages = gathered()
      if (written !== head?.unfinished) throw new Error(`the snapshots have ${written} unfinished tasks together, and say that there are ${head?.unfinished}`)
      return pages
    },
  }
}
