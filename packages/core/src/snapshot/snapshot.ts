/**
 * Converts a state into pages and back. The first page has everything except the tasks. A snapshot is a cache: only the version of the fold that
 * wrote it can read it.
 *
 * `beginSnapshot` makes its pages in small steps while the state goes on changing. All pages show the state at the moment it began (see
 * `task-walk.ts`).
 *
 * An increment has, of the unfinished tasks, only those that changed since an earlier snapshot, its base, and the numbers of all that changed or
 * finished. To load it, its pages are read first, then those of its base, and so on up to a whole snapshot. A task in a base is left out if a snapshot
 * read before says that it changed or finished.
 */
import type { Joins, LoadedNames } from '../finished/finished-tasks.js'
import type { FinishedWalk, KeptPage } from '../finished/finished-walk.js'
import { chunkRows } from '../rows/row-bytes.js'
import { factsAt, statusIn } from '../rows/task-bytes.js'
import type { KeptRows, RowsPlace, RowStore } from '../finished/row-store.js'
import type { Group } from '../state/group.js'
import { type GroupText, keptIn, type NamesText, pageOf, pageOfChanged, pageOfKept, pageOfNames, pageOfRows, type SnapshotPage, taskNamesIn, taskRowsIn } from './snapshot-page.js'
import type { RegisteredAgent } from '../state/agent-register.js'
import { type Approval, byAge, type Chain } from '../state/approvals.js'
import type { Limit } from '../limits/limit.js'
import type { MeterEntry } from '../limits/limits.js'
import { policyOf } from '../ready/policy.js'
import type { Alert, FailureCounts } from '../state/alerts.js'
import type { Batch } from '../state/batches.js'
import { LoadedTasks, pageTasks, RowList } from '../rows/loaded-tasks.js'
import { NumberSet } from '../structures/number-set.js'
import type { Schedule } from '../state/schedules.js'
import type { Deadline } from '../state/deadlines.js'
import type { ShareEntry } from '../ready/fair-share.js'
import type { Breaker, Head, TaskRecord } from '../state/state.js'
import { byType } from '../state/breakers.js'
import { Superseded } from './superseded.js'
import { Tables } from '../state/tables.js'
import { GatheredTasks, Tally } from './tally.js'
import { isFinal } from '../model/task.js'
import { TaskWalk } from '../queries/task-walk.js'
import { endReplay, QueueState } from '../state/queue-state.js'

/** Raise this with every change of the fold or of these pages. (Increments are told apart by the format version of their files.) */
export const foldVersion = 14

type HeadText = Omit<Head, 'savedFor'> & {
  readonly queue: string
  /** Number of finished tasks. */
  readonly finished: number
  /** The seed of the hashes. Only if the snapshot names places of rows, because their columns have hashes. */
  readonly seed?: number
  /** Number of unfinished tasks. An increment and its bases must have this many together. */
  readonly unfinished: number
  readonly limits: ReadonlyArray<readonly [string, Limit]>
  readonly meters: ReadonlyArray<MeterEntry>
  readonly turns: ReadonlyArray<ShareEntry>
  readonly schedules: ReadonlyArray<Schedule>
  /** Which of their tasks are not final follows from these. */
  readonly batches: ReadonlyArray<Omit<Batch, 'live'>>
  readonly agents: ReadonlyArray<RegisteredAgent>
  readonly slowdowns: ReadonlyArray<Deadline>
  readonly sleepers: ReadonlyArray<Deadline>
  readonly chains: ReadonlyArray<Omit<Chain, 'savedFor'>>
  readonly approvals: ReadonlyArray<Approval>
  readonly alerts: ReadonlyArray<Alert>
  readonly failures: ReadonlyArray<readonly [phase: string, counts: FailureCounts]>
  readonly breakers: ReadonlyArray<Omit<Breaker, 'savedFor' | 'probe'> & { readonly probe: number | null }>
}

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
  let head: ReadonlyArray<SnapshotPage> = [headPage(tables, names)]
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
    for (let from = 0; from < tasks.length; from += pageTasks) pages.push(pageOf(tasks.slice(from, from + pageTasks), groups))
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

const headPage = (tables: Tables, names: boolean): SnapshotPage => {
  const { savedFor: _, ...head } = tables.head
  const text: HeadText = {
    ...head,
    queue: tables.queue,
    finished: tables.finished.size,
    ...(names ? { seed: tables.seed } : {}),
    unfinished: tables.unfinished.size,
    limits: [...tables.limits.set],
    meters: tables.limits.entries(),
    turns: tables.shares.entries(),
    schedules: tables.schedules.all(),
    batches: tables.batches.all().map(({ live: _live, ...batch }) => batch),
    agents: tables.agents.entries(),
    slowdowns: [...tables.slowdowns],
    sleepers: [...tables.sleepers],
    chains: [...tables.chains.values()].map(({ savedFor: ___, ...chain }) => chain).sort((a, b) => (a.root < b.root ? -1 : 1)),
    approvals: [...tables.approvals.values()].sort(byAge),
    alerts: tables.alerts.all(),
    failures: [...tables.alerts.failures].sort(([a], [b]) => (a < b ? -1 : 1)),
    breakers: [...tables.breakers.values()]
      .sort(byType)
      .map(({ savedFor: __, probe, ...breaker }) => ({ ...breaker, probe: probe?.number ?? null })),
  }
  return { kind: 'head', text: JSON.stringify(text), rows: 0, numbers: new Float64Array(0) }
}

export interface SnapshotReader {
  /** Adds a page. Pages must be given in order. Throws if it is malformed. */
  readonly page: (page: SnapshotPage) => void
  /** Must be called before the pages of the base of an increment, after those of the increment. */
  readonly base: () => void
  /** Returns the state. `isReplayed`: a log will be replayed on it, as after `beginReplay`. Default: false. */
  readonly finish: (isReplayed?: boolean) => QueueState
}

interface FinishedJoin {
  readonly tally: Tally
  readonly names: LoadedNames
  readonly joins: Joins
}

/**
 * Builds a state from a snapshot's pages. `seed` and `store`: see `initial`; a snapshot that names places of rows has a seed of its own. `rowsAt`:
 * returns the rows at a place that it names, and throws if they are not there.
 */
export const snapshotReader = (seed = 0, store?: RowStore, rowsAt: (place: RowsPlace) => KeptRows = nowhere): SnapshotReader => {
  let tables: Tables | undefined
  let finishedCount = 0
  let gathered: GatheredTasks | undefined
  /** The groups of the unfinished tasks in the snapshot that is being read: an increment or a base. */
  let groups: Tally | undefined
  let groupTexts: Array<GroupText> = []
  let finishedJoin: FinishedJoin | undefined
  /** What the numbers for groups and agents in rows of finished tasks mean. */
  const finishedGroups: Array<GroupText | null> = []
  const finishedAgents: Array<string | null> = []
  let breakers: HeadText['breakers'] = []
  let meters: HeadText['meters'] = []
  let turns: HeadText['turns'] = []
  let slowdowns: HeadText['slowdowns'] = []
  let sleepers: HeadText['sleepers'] = []
  /** The unfinished tasks: records, and rows. */
  const records: Array<TaskRecord> = []
  let rowList = new RowList(0, seed)
  const loadedTasks = new LoadedTasks()
  const agents = new Map<string, string>()
  let unfinishedCount = 0
  const superseded = new Superseded()
  let isBase = false

  const readHead = ({ text }: SnapshotPage): void => {
    const head = JSON.parse(text) as HeadText
    tables = new Tables(head.queue, head.seed ?? seed, store)
    tables.ready.putAside()
    const { queue: _, seed: __, unfinished, finished, limits, meters: meterTexts, breakers: breakerTexts, turns: turnTexts, slowdowns: slowdownTexts, sleepers: sleeperTexts, schedules, batches, agents, chains, approvals, alerts, failures, ...fields } = head
    Object.assign(tables.head, fields)
    finishedCount = finished
    unfinishedCount = unfinished
    rowList = new RowList(unfinished, tables.seed)
    tables.finished.reserve(finished)
    tables.ready.reorder(policyOf(tables.head.settings))
    tables.countTenants()
    for (const chain of chains) tables.chains.set(chain.root, { savedFor: 0, ...chain })
    for (const approval of approvals) tables.approvals.set(approval.id, approval)
    for (const [key, limit] of limits) tables.limits.set.set(key, limit)
    meters = meterTexts
    breakers = breakerTexts
    turns = turnTexts
    for (const schedule of schedules) tables.schedules.put(schedule)
    for (const batch of batches) tables.batches.put({ ...batch, live: new NumberSet() })
    tables.agents.restore(agents)
    slowdowns = slowdownTexts
    sleepers = sleeperTexts
    for (const alert of alerts) tables.alerts.raise(alert)
    for (const [about, counts] of failures) tables.alerts.setFailures(about, counts)
  }

  const readTasks = (page: SnapshotPage, loaded: Tables): void => {
    if (page.kind === 'tasks') readUnfinished(page, loaded)
    else if (page.kind === 'changed') superseded.add(page.numbers)
    // Of a base, only the unfinished tasks are needed. The increment has everything else.
    else if (!isBase) readFinished(page, loaded)
  }

  /** How rows of finished tasks join the state. A snapshot may have names that no task uses. The state gets no group for such a name. */
  const joinOf = (loaded: Tables): FinishedJoin => {
    const tally = new Tally(gatheredIn(loaded), (index) => groupOf(loaded, finishedGroups[index]), (group, tasks) => loaded.joinGroup(group, tasks))
    const { tenantCounts } = loaded
    const joins: Joins = (number, group, band, task) => {
      tally.add(number, group, band)
      if (tenantCounts.isOn) tenantCounts.add(tally.get(group).tenant, statusIn(band), 1)
      if (task !== undefined) loaded.joinFinished(task)
    }
    return { tally, names: { groupOf: (index) => tally.get(index), agentOf: nameOfAgent }, joins }
  }

  const readFinished = (page: SnapshotPage, loaded: Tables): void => {
    if (page.kind === 'names') {
      const names = JSON.parse(page.text) as NamesText
      for (const group of names.groups) finishedGroups.push(group)
      for (const agent of names.agents) finishedAgents.push(agent)
      return
    }
    const { names, joins } = (finishedJoin ??= joinOf(loaded))
    if (page.kind === 'rows') loaded.finished.loadRows({ lengths: page.numbers, bytes: page.bytes ?? noBytes }, names, joins)
    for (const { place, ...others } of keptIn(page)) loaded.finished.loadKept(rowsAt(place), others, names, joins)
  }

  /** Adds the tasks of a page that are not superseded. A task that is merely ready is counted, and stays a row. */
  const readUnfinished = (page: SnapshotPage, loaded: Tables): void => {
    const names = taskNamesIn(page)
    groupTexts.push(...names.groups)
    groups ??= new Tally(gatheredIn(loaded), (number) => groupOf(loaded, groupTexts[number]), (group, tasks) => loaded.joinReady(group, tasks))
    const { first, bytes, starts } = loadedTasks.add(taskRowsIn(page, groups, names.agents.map(shared)))
    for (let i = 0; i < page.rows; i++) {
      const row = first + i
      const start = starts[i] as number
      const { number, group, band, isIndexed } = factsAt(bytes, start)
      if (superseded.has(number)) loadedTasks.drop(row)
      else if (isIndexed) {
        const task = loadedTasks.take(row)
        loaded.join(task)
        records.push(task)
      } else {
        groups.add(number, group, band)
        rowList.add(number, row, bytes, start)
      }
    }
  }

  const gatheredIn = (loaded: Tables): GatheredTasks => (gathered ??= new GatheredTasks(loaded))

  /** The state does not find a group without a task, and would make it again. So a task must be counted in it at once. */
  const groupOf = (loaded: Tables, text: GroupText | null | undefined): Group | undefined => {
    if (text === undefined || text === null) return undefined
    const [type, phase, skills, tenant, key] = text
    return loaded.group(type, phase ?? undefined, skills, tenant ?? undefined, key ?? undefined)
  }

  const nameOfAgent = (index: number): string | undefined => {
    const name = finishedAgents[index]
    return name === undefined || name === null ? undefined : shared(name)
  }

  /** All leases of an agent share one string, as they do after a replay. */
  const shared = (agent: string): string => {
    const known = agents.get(agent)
    if (known !== undefined) return known
    agents.set(agent, agent)
    return agent
  }

  /** Called after the last page that shares its groups with others. */
  const endGroups = (): void => {
    groups?.joinOthers()
    groups = undefined
    groupTexts = []
  }

  const finish = (isReplayed = false): QueueState => {
    if (tables === undefined) throw new Error('the snapshot is empty')
    const loaded = tables
    endGroups()
    finishedJoin?.tally.joinOthers()
    gathered?.flush()
    if (loaded.finished.size !== finishedCount) throw new Error(`the snapshot has ${loaded.finished.size} finished tasks, and says that it has ${finishedCount}`)
    const unfinished = records.length + rowList.length
    if (unfinished !== unfinishedCount) throw new Error(`the snapshot, with its bases, has ${unfinished} unfinished tasks, and says that there are ${unfinishedCount}`)
    for (const task of loaded.fill(records, rowList, loadedTasks)) {
      for (const id of task.dependencies) {
        const dependency = loaded.byId.get(id)
        // A task with a higher number is another task, which got the id after the dependency had been evicted.
        if (dependency === undefined || isFinal(dependency.status) || dependency.number > task.number) continue
        loaded.addDependent(dependency, task)
      }
    }
    for (const { probe, ...fields } of breakers) {
      loaded.updateBreaker(loaded.breakers.of(fields.type), (breaker) => {
        Object.assign(breaker, fields)
        breaker.probe = probe === null ? null : (loaded.byNumber.get(probe) ?? null)
      })
    }
    for (const { name, until } of slowdowns) loaded.slowDown(name, until)
    for (const { name, until } of sleepers) loaded.sleepers.set(name, until)
    loaded.limits.restore(meters)
    // Last, because a tenant whose tasks become ready gets a turn.
    loaded.shares.restore(turns)
    const state = QueueState.of(loaded)
    return isReplayed ? state : endReplay(state)
  }

  const base = (): void => {
    superseded.nextBase()
    endGroups()
    isBase = true
  }

  return {
    page: (page) => (tables === undefined ? readHead(page) : readTasks(page, tables)),
    base,
    finish,
  }
}

const noBytes = new Uint8Array(0)

const nowhere = ({ file }: RowsPlace): KeptRows => {
  throw new Error(`the snapshot names rows in the file ${file}, and there is none`)
}

/** An independent copy, for audits and experiments. */
export const fork = (state: QueueState): QueueState => {
  const reader = snapshotReader()
  for (const page of snapshotPages(state)) reader.page(page)
  return reader.finish()
}
