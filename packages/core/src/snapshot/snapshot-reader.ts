/**
 * Builds a state from the pages of a snapshot. Of an increment, its own pages are read first, then those of its base, and so on up to a whole snapshot.
 * A task in a base is left out if a snapshot read before says that it changed or finished.
 */
import type { Joins, LoadedNames } from '../finished/finished-tasks.js'
import type { KeptRows, RowsPlace, RowStore } from '../rows/row-store.js'
import { isFinal } from '../model/task.js'
import { LoadedTasks, RowList } from '../rows/loaded-tasks.js'
import { statusIn } from '../rows/task-bytes.js'
import type { Group } from '../records/group.js'
import { endReplay, QueueState } from '../fold/queue-state.js'
import type { TaskRecord } from '../records/records.js'
import { addDependent } from '../state/dependents.js'
import type { Tables } from '../state/tables.js'
import { haveSameSeed, headIn, type HeadText, restoreRest, tablesFrom } from './head.js'
import { type GroupText, keptIn, namesIn, type SnapshotPage, taskColumnsIn, taskNamesIn } from './snapshot-page.js'
import { Superseded } from './superseded.js'
import { Tally, type TallyTo } from './tally.js'

export interface SnapshotReader {
  /** Adds a page. Pages must be given in order. Throws if it is malformed. */
  readonly page: (page: SnapshotPage) => void
  /** Must be called before the pages of the base of an increment, after those of the increment. */
  readonly base: () => void
  /** Returns the state. `isReplayed`: a log will be replayed on it, as after `beginReplay`. Default: false. */
  readonly finish: (isReplayed?: boolean) => QueueState
}

/** `store`: see `initial`. `rowsAt`: returns the rows at a place that the snapshot names, and throws if they are not there. */
export const snapshotReader = (store?: RowStore, rowsAt: (place: RowsPlace) => KeptRows = nowhere): SnapshotReader => {
  let load: Load | undefined
  const begun = (): Load => {
    if (load === undefined) throw new Error('the snapshot is empty')
    return load
  }
  return {
    page: (page) => {
      if (load === undefined) load = new Load(headIn(page), store, rowsAt)
      else load.page(page)
    },
    base: () => begun().base(),
    finish: (isReplayed = false) => begun().finish(isReplayed),
  }
}

/** A state that is being built. */
class Load {
  private readonly tables: Tables
  /** The unfinished tasks: records, and rows. */
  private readonly records: Array<TaskRecord> = []
  private readonly rowList: RowList
  private readonly loadedTasks = new LoadedTasks()
  /** The groups of unfinished tasks, and the count of merely ready ones. Each snapshot in a series numbers its groups anew. */
  private groupTexts: Array<GroupText> = []
  private readonly readyTally: Tally
  /** What the numbers for groups and agents in rows of finished tasks mean. A number that is not in use has none. */
  private readonly finishedGroups: Array<GroupText | null> = []
  private readonly finishedAgents: Array<string | null> = []
  private readonly finishedTally: Tally
  private readonly agents = new Map<string, string>()
  private readonly superseded = new Superseded()
  private isBase = false

  constructor(
    private readonly head: HeadText,
    store: RowStore | undefined,
    private readonly rowsAt: (place: RowsPlace) => KeptRows,
  ) {
    this.tables = tablesFrom(head, store)
    this.rowList = new RowList(head.unfinished)
    const { tables } = this
    const list: TallyTo['list'] = (lists, status, priority, numbers) => tables.addListed(lists, status, priority, numbers)
    this.readyTally = new Tally(head.unfinished, { groupOf: (number) => this.groupOf(this.groupTexts[number]), join: (group, tasks) => tables.joinReady(group, tasks), list })
    this.finishedTally = new Tally(head.finished, { groupOf: (number) => this.groupOf(this.finishedGroups[number]), join: (group, tasks) => tables.joinGroup(group, tasks), list })
  }

  page(page: SnapshotPage): void {
    if (page.kind === 'head') haveSameSeed(this.head, headIn(page))
    else if (page.kind === 'tasks') this.readUnfinished(page)
    else if (page.kind === 'changed') this.superseded.add(page.numbers)
    // Of a base, only the unfinished tasks are needed. The increment has everything else.
    else if (!this.isBase) this.readFinished(page)
  }

  base(): void {
    this.superseded.nextBase()
    this.readyTally.end()
    this.groupTexts = []
    this.isBase = true
  }

  finish(isReplayed: boolean): QueueState {
    const { head, tables, records, rowList } = this
    this.readyTally.end()
    this.finishedTally.end()
    if (tables.finished.size !== head.finished) throw new Error(`the snapshot has ${tables.finished.size} finished tasks, and says that it has ${head.finished}`)
    const unfinished = records.length + rowList.length
    if (unfinished !== head.unfinished) throw new Error(`the snapshot, with its bases, has ${unfinished} unfinished tasks, and says that there are ${head.unfinished}`)
    const filled = tables.fill(records, rowList, this.loadedTasks)
    if (tables.unfinished.size !== unfinished) throw new Error('the snapshot, with its bases, has an unfinished task twice')
    for (const task of filled) {
      for (const id of task.dependencies) {
        const dependency = tables.byId.get(id)
        // A task with a higher number is another task, which got the id after the dependency had been evicted.
        if (dependency === undefined || isFinal(dependency.status) || dependency.number > task.number) continue
        addDependent(tables, dependency, task)
      }
    }
    restoreRest(head, tables)
    const state = QueueState.of(tables)
    return isReplayed ? state : endReplay(state)
  }

  private readFinished(page: SnapshotPage): void {
    if (page.kind === 'names') {
      const { groups, agents } = namesIn(page)
      for (const group of groups) this.finishedGroups.push(group)
      for (const agent of agents) this.finishedAgents.push(agent)
    }
    if (page.kind === 'rows') this.tables.finished.loadRows({ lengths: page.numbers, bytes: page.bytes ?? noBytes }, this.finishedNames, this.joins)
    for (const { place, ...others } of keptIn(page)) this.tables.finished.loadKept(this.rowsAt(place), others, this.finishedNames, this.joins)
  }

  /** A snapshot may have names that no task uses. The state gets no group for such a name. */
  private readonly finishedNames: LoadedNames = {
    groupOf: (number) => this.finishedTally.group(number),
    agentOf: (number) => {
      const name = this.finishedAgents[number]
      return name === undefined || name === null ? undefined : this.shared(name)
    },
  }

  private readonly joins: Joins = (number, group, standing, task) => {
    this.finishedTally.add(number, group, standing)
    const { tenantCounts } = this.tables
    if (tenantCounts.isOn) tenantCounts.add(this.finishedTally.group(group).tenant, statusIn(standing), 1)
    if (task !== undefined) this.tables.joinFinished(task)
  }

  /** Adds the tasks of a page that are not superseded. A task that is merely ready is counted, and stays a row. */
  private readUnfinished(page: SnapshotPage): void {
    const { tables, readyTally, records, rowList, loadedTasks, superseded } = this
    const { groups, agents } = taskNamesIn(page)
    for (const group of groups) this.groupTexts.push(group)
    const { lengths, numbers, groups: groupNumbers, standings, indexed, idHashes, keyHashes } = taskColumnsIn(page)
    const names = agents.map((agent) => this.shared(agent))
    const first = loadedTasks.add({ lengths, bytes: page.bytes ?? noBytes, groups: readyTally.groups, agents: { get: (index) => names[index] as string } })
    for (let i = 0; i < page.rows; i++) {
      const row = first + i
      const number = numbers[i] as number
      const group = groupNumbers[i] as number
      if (superseded.has(number)) loadedTasks.drop(row)
      else if (indexed[i] === 1) {
        // The row refers to groups that were made.
        readyTally.group(group)
        const task = loadedTasks.take(row, number)
        tables.join(task)
        records.push(task)
      } else {
        const standing = standings[i] as number
        if (statusIn(standing) !== 'pending') throw new Error('a task without a record is not ready')
        readyTally.add(number, group, standing)
        rowList.add(number, row, idHashes[i] as number, keyHashes[i] as number)
      }
    }
  }

  /** The state does not find a group without a task, and would make it again. So a task must be counted in it at once. */
  private groupOf(text: GroupText | null | undefined): Group | undefined {
    if (text === undefined || text === null) return undefined
    const [type, phase, skills, tenant, key] = text
    return this.tables.group(type, phase ?? undefined, skills, tenant ?? undefined, key ?? undefined)
  }

  /** All leases of an agent share one string, as they do after a replay. */
  private shared(agent: string): string {
    const known = this.agents.get(agent)
    if (known !== undefined) return known
    this.agents.set(agent, agent)
    return agent
  }
}

const noBytes = new Uint8Array(0)

const nowhere = ({ file }: RowsPlace): KeptRows => {
  throw new Error(`the snapshot names rows in the file ${file}, and there is none`)
}
