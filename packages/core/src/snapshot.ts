/**
 * A state as pages, and back: the first holds what is no task. A snapshot is a cache: made by one version of the
 * fold, of use to that version alone.
 *
 * `beginSnapshot` takes its pages bit by bit while the state goes on changing: what is about to change is
 * copied first, so all pages show the moment of the work.
 */
import { pageOf, pageTasks, type SnapshotPage, tasksOf } from './snapshot-page.js'
import type { Breaker, Group, Head, TaskRecord } from './state.js'
import { sortedByKey } from './sorted-list.js'
import { byType, Tables } from './tables.js'
import { isFinal, type Phase } from './task.js'
import { QueueState } from './queue-state.js'

/** Raise it with every change of the fold or of these pages. */
export const foldVersion = 3

type HeadText = Omit<Head, 'savedFor'> & {
  readonly queue: string
  readonly groups: ReadonlyArray<readonly [string, Phase | null, ReadonlyArray<string>, string | null]>
  readonly breakers: ReadonlyArray<Omit<Breaker, 'savedFor' | 'probe'> & { readonly probe: number | null }>
}

export interface SnapshotWork {
  readonly revision: number
  /** The next pages, at least `tasksMin` tasks' worth unless it is the end; `undefined` when all is written. */
  readonly next: (tasksMin: number) => ReadonlyArray<SnapshotPage> | undefined
  /** Stops keeping what changes. Needed only when the snapshot is not taken to its end. */
  readonly abandon: () => void
}

/** Starts a snapshot of the state as it is now. One at a time. */
export const beginSnapshot = (state: QueueState): SnapshotWork => {
  const tables = QueueState.tablesOf(state)
  if (tables.copyOnWrite !== null) throw new Error('a snapshot is under way')
  const groups = groupIndexes(tables)
  const written = new Set<TaskRecord>()
  /** Copies of those that are about to change. */
  const early: Array<TaskRecord> = []
  const pages = [headPage(tables)]
  const { lastNumber } = tables.head
  let passed = 0
  const put = (tasks: Array<TaskRecord>): void => {
    if (tasks.length > 0) pages.push(pageOf(tasks, groups))
    tasks.length = 0
  }
  tables.copyOnWrite = {
    beforeChange: (task) => {
      if (task.number <= passed || task.number > lastNumber || written.has(task)) return
      written.add(task)
      early.push({ ...task })
    },
  }
  const end = (): void => {
    tables.copyOnWrite = null
    written.clear()
  }
  const next = (tasksMin: number): ReadonlyArray<SnapshotPage> | undefined => {
    const page: Array<TaskRecord> = []
    put(early)
    for (let taken = 0; taken < tasksMin && tables.copyOnWrite !== null; ) {
      const task = tables.byNumber.after(passed)
      if (task === undefined || task.number > lastNumber) {
        end()
        break
      }
      passed = task.number
      if (written.delete(task)) continue
      page.push(task)
      taken++
      if (page.length === pageTasks) put(page)
    }
    put(page)
    return pages.length === 0 && tables.copyOnWrite === null ? undefined : pages.splice(0)
  }
  const abandon = (): void => {
    end()
    pages.length = early.length = 0
  }
  return { revision: tables.head.revision, next, abandon }
}

/** The whole snapshot at once. Nothing changes meanwhile, so one that is taken bit by bit is not in its way. */
export const snapshotPages = (state: QueueState): ReadonlyArray<SnapshotPage> => {
  const tables = QueueState.tablesOf(state)
  const groups = groupIndexes(tables)
  const tasks = [...tables.byNumber.values()]
  const pages = [headPage(tables)]
  for (let from = 0; from < tasks.length; from += pageTasks) pages.push(pageOf(tasks.slice(from, from + pageTasks), groups))
  return pages
}

/** Pages name a group by its place in this order. */
const groupIndexes = (tables: Tables): ReadonlyMap<Group, number> => new Map(tables.sortedGroups().map((group, index) => [group, index]))

const headPage = (tables: Tables): SnapshotPage => {
  const { savedFor: _, ...head } = tables.head
  const text: HeadText = {
    ...head,
    queue: tables.queue,
    groups: tables.sortedGroups().map((group) => [group.type, group.phase ?? null, group.skills, group.tenant ?? null]),
    breakers: [...tables.breakers.values()]
      .sort(byType)
      .map(({ savedFor: __, probe, ...breaker }) => ({ ...breaker, probe: probe?.number ?? null })),
  }
  return { text: JSON.stringify(text), rows: 0, numbers: new Float64Array(0) }
}

/** Builds a state from a snapshot's pages, given in order; `finish` returns it. Rejects malformed pages by throwing. */
export const snapshotReader = (seed = 0): { readonly page: (page: SnapshotPage) => void; readonly finish: () => QueueState } => {
  let tables: Tables | undefined
  let groups: ReadonlyArray<Group> = []
  let breakers: HeadText['breakers'] = []
  const tasks: Array<TaskRecord> = []
  const agents = new Map<string, string>()
  // Tasks that changed during the cut stand among later ones.
  let isInOrder = true

  const readHead = ({ text }: SnapshotPage): void => {
    const head = JSON.parse(text) as HeadText
    tables = new Tables(head.queue, seed)
    const { queue: _, groups: groupTexts, breakers: breakerTexts, ...fields } = head
    Object.assign(tables.head, fields)
    groups = groupTexts.map(([type, phase, skills, tenant]) =>
      (tables as Tables).group(type, phase ?? undefined, skills, tenant ?? undefined),
    )
    breakers = breakerTexts
  }

  const readTasks = (page: SnapshotPage): void => {
    for (const task of tasksOf(page, groups, shared)) {
      const before = tasks[tasks.length - 1]
      if (before !== undefined && before.number > task.number) isInOrder = false
      tasks.push(task)
    }
  }

  /** One string for all leases of an agent, as it is when they are folded. */
  const shared = (agent: string): string => {
    const known = agents.get(agent)
    if (known !== undefined) return known
    agents.set(agent, agent)
    return agent
  }

  const finish = (): QueueState => {
    if (tables === undefined) throw new Error('the snapshot is empty')
    const loaded = tables
    loaded.fill(isInOrder ? tasks : sortedByKey(tasks, (task) => task.number))
    for (const task of loaded.byNumber.values()) {
      if (isFinal(task.status) || task.dependencies.length === 0) continue
      for (const id of task.dependencies) {
        const dependency = loaded.byId.get(id)
        if (dependency === undefined || dependency.status === 'completed') continue
        task.missing++
        if (!isFinal(dependency.status)) loaded.addDependent(dependency, task)
      }
    }
    for (const { probe, ...fields } of breakers) {
      loaded.updateBreaker(loaded.breaker(fields.type), (breaker) => {
        Object.assign(breaker, fields)
        breaker.probe = probe === null ? null : (loaded.byNumber.get(probe) ?? null)
      })
    }
    return QueueState.of(loaded)
  }

  return {
    page: (page) => (tables === undefined ? readHead(page) : readTasks(page)),
    finish,
  }
}

/** An independent copy, for auditors and experiments. */
export const fork = (state: QueueState): QueueState => {
  const reader = snapshotReader()
  for (const page of snapshotPages(state)) reader.page(page)
  return reader.finish()
}
