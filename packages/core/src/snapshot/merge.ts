/**
 * Makes a whole snapshot of an increment and all on which it is based, from their pages alone. No state is needed, so it can be done on any thread, and
 * no record is made.
 */
import { pageTasks } from '../rows/loaded-tasks.js'
import { rowBytesOf } from '../rows/row-bytes.js'
import { renameRow } from '../rows/task-bytes.js'
import { haveSameSeed, headIn, type HeadText } from './head.js'
import { type GroupText, indexOf, NewTaskPage, type SnapshotPage, taskColumnsIn, taskNamesIn } from './snapshot-page.js'
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
  let next = new NewTaskPage()

  const numberOf = (group: GroupText): number => {
    const known = numbers.size
    const number = indexOf(numbers, JSON.stringify(group))
    if (number === known) next.addGroup(group)
    return number
  }

  /** The tasks that were gathered, as a page. Empty if there are none. */
  const gathered = (): ReadonlyArray<SnapshotPage> => {
    if (next.rows === 0) return []
    const page = next.finish()
    written += page.rows
    next = new NewTaskPage()
    return [page]
  }

  const gather = (page: SnapshotPage): ReadonlyArray<SnapshotPage> => {
    const names = taskNamesIn(page)
    for (const group of names.groups) renamed.push(numberOf(group))
    const { lengths, numbers: taskNumbers, groups, standings, indexed, idHashes, keyHashes } = taskColumnsIn(page)
    const { bytes, starts } = rowBytesOf(lengths, page.bytes ?? noBytes, page.rows)
    const pages: Array<SnapshotPage> = []
    for (let row = 0; row < page.rows; row++) {
      const number = taskNumbers[row] as number
      if (superseded.has(number)) continue
      renameRow(next.writer, bytes, starts[row] as number, starts[row + 1] as number, (group) => renamed[group] as number, (agent) => next.agent(names.agents[agent] as string))
      next.end(number, renamed[groups[row] as number] as number, standings[row] as number, indexed[row] === 1, idHashes[row] as number, keyHashes[row] as number)
      if (next.rows === pageTasks) pages.push(...gathered())
    }
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
