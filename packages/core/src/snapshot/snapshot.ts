/**
 * Converts a state into pages, and copies it (`snapshot-reader.ts` converts pages back). The first page has everything except the tasks. A snapshot is a
 * cache: only the version of the fold that wrote it can read it.
 *
 * `beginSnapshot` makes its pages in small steps while the state goes on changing. All pages show the state at the moment it began (see
 * `task-walk.ts`).
 *
 * An increment has, of the unfinished tasks, only those that changed since an earlier snapshot, its base, and the numbers of all that changed or
 * finished.
 */
import type { FinishedWalk, KeptPage } from '../finished/finished-walk.js'
import { TaskWalk } from '../state/task-walk.js'
import { pageTasks } from '../rows/loaded-tasks.js'
import { chunkRows } from '../rows/row-bytes.js'
import type { Group } from '../records/group.js'
import { QueueState } from '../fold/queue-state.js'
import type { Tables } from '../state/tables.js'
import { NumberSet } from '../structures/number-set.js'
import { headPage } from './head.js'
import { pageOf, pageOfChanged, pageOfKept, pageOfNames, pageOfRows, type SnapshotPage } from './snapshot-page.js'
import { snapshotReader } from './snapshot-reader.js'

/** Raise this with every change of the fold or of these pages. (Increments are told apart by the format version of their files.) */
export const foldVersion = 19

export interface SnapshotWork {
  readonly revision: number
  /** The next pages, with at least `tasksMin` tasks except at the end. `undefined` if there are no more. */
  readonly next: (tasksMin: number) => ReadonlyArray<SnapshotPage> | undefined
  /** Stops copying tasks that change. Needed only for a snapshot that is not taken to its end. */
  readonly abandon: () => void
}

/** Starts a snapshot of the state as it is now. With `names` it names the places of rows that are in a store. Default: it copies all bytes. */
export const beginSnapshot = (state: QueueState, names = false): SnapshotWork => begin(QueueState.tablesOf(state), names)

/** Starts an increment since {@link noteChanges}, which may be called again at once. It names places of rows. Throws if changes were not noted. */
export const beginIncrement = (state: QueueState): SnapshotWork => {
  const tables = QueueState.tablesOf(state)
  if (tables.changed === undefined) throw new Error('it is not known what changed since the last snapshot')
  return begin(tables, true, tables.changed)
}

/** From now on the state notes which tasks change, so that a snapshot can be an increment to the one that began, or was loaded, at this moment. */
export const noteChanges = (state: QueueState): void => {
  QueueState.tablesOf(state).changed = new NumberSet()
}

/** How many tasks changed or finished since {@link noteChanges}; `undefined` if it was never called. */
export const changedCount = (state: QueueState): number | undefined => QueueState.tablesOf(state).changed?.size

const begin = (tables: Tables, names: boolean, changed?: NumberSet): SnapshotWork => {
  const walk = new TaskWalk(tables, changed)
  const groups = new Map<Group, number>()
  let head: ReadonlyArray<SnapshotPage> = [headPage(tables)]
  const nextChanged = changed === undefined ? () => undefined : changedPages(changed)
  const next = (tasksMin: number): ReadonlyArray<SnapshotPage> | undefined => {
    const pages = [...head]
    head = []
    for (let sum = 0; sum < tasksMin; sum += pageTasks) {
      const page = nextChanged()
      if (page === undefined) break
      pages.push(page)
    }
    const toCome = tasksMin - addFinished(pages, walk.finished, names, tasksMin)
    const tasks = walk.next(Math.max(0, toCome))
    for (let from = 0; from < tasks.length; from += pageTasks) pages.push(pageOf(tasks.slice(from, from + pageTasks), groups, tables.seed))
    return pages.length === 0 && walk.isOver ? undefined : pages
  }
  const abandon = (): void => {
    walk.end()
    head = []
  }
  return { revision: tables.head.revision, next, abandon }
}

/** The pages of the numbers of tasks that changed, one with each call. */
const changedPages = (changed: NumberSet): (() => SnapshotPage | undefined) => {
  let next = changed.from(0)
  return () => {
    const numbers: Array<number> = []
    for (; next !== undefined && numbers.length < pageTasks; next = changed.from(next + 1)) numbers.push(next)
    return numbers.length === 0 ? undefined : pageOfChanged(numbers)
  }
}

/** Adds pages of names and of finished tasks: at least `tasksMin` tasks, names and places together, if there are that many. Returns their number. */
const addFinished = (pages: Array<SnapshotPage>, walk: FinishedWalk, namesPlaces: boolean, min: number): number => {
  let added = 0
  while (added < min) {
    const names = walk.nextNames(pageTasks)
    const kept = names === undefined && namesPlaces ? placesOf(walk) : []
    const rows = names === undefined && kept.length === 0 ? walk.nextRows() : undefined
    const page = names !== undefined ? pageOfNames(names) : kept.length > 0 ? pageOfKept(kept, chunkRows) : rows !== undefined ? pageOfRows(rows) : undefined
    if (page === undefined) return added
    pages.push(page)
    added += names === undefined ? page.rows : names.groups.length + names.agents.length
  }
  return added
}

/** The next chunks that are in a store. */
const placesOf = (walk: FinishedWalk): ReadonlyArray<KeptPage> => {
  const kept: Array<KeptPage> = []
  for (let next = walk.nextKept(); next !== undefined; next = kept.length < pagePlaces ? walk.nextKept() : undefined) kept.push(next)
  return kept
}
/** Number of chunks in a full page of places. */
const pagePlaces = 64

/** The whole snapshot at once. */
export const snapshotPages = (state: QueueState): ReadonlyArray<SnapshotPage> => beginSnapshot(state).next(Number.POSITIVE_INFINITY) ?? []

/** An independent copy, for audits and experiments. */
export const fork = (state: QueueState): QueueState => {
  const reader = snapshotReader()
  for (const page of snapshotPages(state)) reader.page(page)
  return reader.finish()
}
