/**
 * A state as lines of JSON text, and back. A snapshot is a cache: made by one version of the fold, of use
 * to that version alone.
 *
 * `cutSnapshot` takes its lines bit by bit while the state goes on changing: what is about to change is
 * written down first, so all lines show the moment of the cut.
 */
import { type Breaker, type Head, type Lease, newTaskRecord, noRare, type Rare, type TaskRecord } from './state.js'
import { Tables } from './tables.js'
import { isFinal, type Phase, type Status, statuses } from './task.js'
import { QueueState } from './queue-state.js'

/** Raise it with every change of the fold or of these lines. */
export const foldVersion = 1

type HeadLine = Omit<Head, 'savedFor'> & {
  readonly queue: string
  readonly groups: ReadonlyArray<readonly [string, Phase | null, ReadonlyArray<string>, string | null]>
  readonly breakers: ReadonlyArray<Omit<Breaker, 'savedFor' | 'probe'> & { readonly probe: number | null }>
}

type TaskLine = readonly [
  number: number,
  id: string,
  key: string,
  group: number,
  priority: number,
  timeout: number,
  maxRetries: number,
  backoffSeconds: number,
  enqueuedAt: number,
  enqueuedRevision: number,
  status: number,
  retries: number,
  attempts: number,
  dueAt: number,
  finishedAt: number,
  lastRevision: number,
  dependencies: ReadonlyArray<string> | 0,
  lease: Lease | 0,
  rare: Rare | 0,
]

const tasksPerLine = 64

export interface SnapshotCut {
  readonly revision: number
  /** The next lines, at least `tasksMin` tasks' worth unless it is the end; `undefined` when all is written. */
  readonly next: (tasksMin: number) => ReadonlyArray<string> | undefined
  /** Stops keeping what changes. Needed only when the cut is not taken to its end. */
  readonly abandon: () => void
}

/** Starts a snapshot of the state as it is now. One at a time. */
export const cutSnapshot = (state: QueueState): SnapshotCut => {
  const tables = QueueState.tablesOf(state)
  if (tables.cut !== null) throw new Error('a snapshot is under way')
  const groups = new Map(tables.sortedGroups().map((group, index) => [group, index]))
  const written = new Set<TaskRecord>()
  const early: Array<TaskLine> = []
  const lastNumber = tables.head.lastNumber
  let head: string | undefined = headLine(tables)
  let passed = 0
  tables.cut = {
    beforeChange: (task) => {
      if (task.number > passed && task.number <= lastNumber && !written.has(task)) {
        written.add(task)
        early.push(taskLine(task, groups))
      }
    },
  }
  const end = (): void => {
    tables.cut = null
    written.clear()
  }
  const next = (tasksMin: number): ReadonlyArray<string> | undefined => {
    const lines: Array<string> = []
    if (head !== undefined) {
      lines.push(head)
      head = undefined
    }
    let page: Array<TaskLine> = []
    const put = (line: TaskLine): void => {
      page.push(line)
      if (page.length === tasksPerLine) {
        lines.push(JSON.stringify(page))
        page = []
      }
    }
    let taken = 0
    let done = tables.cut === null
    while (taken < tasksMin && !done) {
      const task = tables.byNumber.after(passed)
      if (task === undefined || task.number > lastNumber) {
        done = true
        early.forEach(put)
        early.length = 0
        end()
        break
      }
      passed = task.number
      if (written.delete(task)) continue
      put(taskLine(task, groups))
      taken++
    }
    if (page.length > 0) lines.push(JSON.stringify(page))
    return lines.length === 0 && done ? undefined : lines
  }
  return { revision: tables.head.revision, next, abandon: end }
}

/** The whole snapshot at once. */
export const snapshotLines = (state: QueueState): ReadonlyArray<string> => {
  const cut = cutSnapshot(state)
  return cut.next(Number.POSITIVE_INFINITY) ?? []
}

const headLine = (tables: Tables): string => {
  const { savedFor: _, ...head } = tables.head
  const line: HeadLine = {
    ...head,
    queue: tables.queue,
    groups: tables.sortedGroups().map((group) => [group.type, group.phase ?? null, group.skills, group.tenant ?? null]),
    breakers: [...tables.breakers.values()].map(({ savedFor: __, probe, ...breaker }) => ({
      ...breaker,
      probe: probe?.number ?? null,
    })),
  }
  return JSON.stringify(line)
}

const taskLine = (task: TaskRecord, groups: ReadonlyMap<object, number>): TaskLine => [
  task.number,
  task.id,
  task.key,
  groups.get(task.group) as number,
  task.priority,
  task.timeout,
  task.maxRetries,
  task.backoffSeconds,
  task.enqueuedAt,
  task.enqueuedRevision,
  statuses.indexOf(task.status),
  task.retries,
  task.attempts,
  task.dueAt,
  task.finishedAt,
  task.lastRevision,
  task.dependencies.length === 0 ? 0 : task.dependencies,
  task.lease ?? 0,
  Object.keys(task.rare).length === 0 ? 0 : task.rare,
]

/** Builds a state from a snapshot's lines, given in order; `finish` returns it. Rejects malformed lines by throwing. */
export const snapshotReader = (): { readonly line: (text: string) => void; readonly finish: () => QueueState } => {
  let tables: Tables | undefined
  let groups: ReadonlyArray<TaskRecord['group']> = []
  let breakers: HeadLine['breakers'] = []
  const tasks: Array<TaskRecord> = []
  const agents = new Map<string, string>()
  // Tasks that changed during the cut stand at its end.
  let isInOrder = true

  const readHead = (text: string): void => {
    const head = JSON.parse(text) as HeadLine
    tables = new Tables(head.queue)
    const { queue: _, groups: groupLines, breakers: breakerLines, ...fields } = head
    Object.assign(tables.head, fields)
    groups = groupLines.map(([type, phase, skills, tenant]) =>
      (tables as Tables).group(type, phase ?? undefined, skills, tenant ?? undefined),
    )
    breakers = breakerLines
  }

  const readTask = (line: TaskLine): void => {
    const task = newTaskRecord({
      number: line[0],
      id: line[1],
      key: line[2],
      group: groups[line[3]] as TaskRecord['group'],
      priority: line[4],
      timeout: line[5],
      maxRetries: line[6],
      backoffSeconds: line[7],
      enqueuedAt: line[8],
      enqueuedRevision: line[9],
      dependencies: line[16] === 0 ? noIds : line[16],
      status: statuses[line[10]] as Status,
      retries: line[11],
      missing: 0,
      dueAt: line[13],
      finishedAt: line[14],
      rare: line[18] === 0 ? noRare : line[18],
    })
    task.attempts = line[12]
    task.lastRevision = line[15]
    if (line[17] !== 0) task.lease = { ...line[17], agent: shared(line[17].agent) }
    const before = tasks[tasks.length - 1]
    if (before !== undefined && before.number > task.number) isInOrder = false
    tasks.push(task)
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
    loaded.fill(isInOrder ? tasks : tasks.sort((a, b) => a.number - b.number))
    for (const task of loaded.byNumber.values()) {
      if (isFinal(task.status) || task.dependencies.length === 0) continue
      for (const id of task.dependencies) {
        const dependency = loaded.byId.get(id)
        if (dependency === undefined || dependency.status === 'completed') continue
        task.missing++
        if (!isFinal(dependency.status)) loaded.addDependent(dependency, task)
      }
    }
    for (const line of breakers) {
      const { probe, ...fields } = line
      loaded.updateBreaker(loaded.breaker(line.type), (breaker) => {
        Object.assign(breaker, fields)
        breaker.probe = probe === null ? null : (loaded.byNumber.get(probe) ?? null)
      })
    }
    return QueueState.of(loaded)
  }

  return {
    line: (text) => {
      if (tables === undefined) return readHead(text)
      for (const line of JSON.parse(text) as ReadonlyArray<TaskLine>) readTask(line)
    },
    finish,
  }
}
const noIds: ReadonlyArray<string> = []

/** An independent copy, for auditors and experiments. */
export const fork = (state: QueueState): QueueState => {
  const reader = snapshotReader()
  for (const line of snapshotLines(state)) reader.line(line)
  return reader.finish()
}
