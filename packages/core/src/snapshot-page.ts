/**
 * Tasks of a snapshot, some hundreds to a line, by column: what all of them have in common is said once, and
 * numbers that grow from task to task are short. A line so made is written, hashed and parsed in a third of the
 * time of one list per task.
 */
import { type Group, type Lease, type LeaseEnd, newTaskRecord, noRare, type Rare, type TaskRecord } from './state.js'
import { type Status, statuses } from './task.js'

/** Tasks of a full page. */
export const pageTasks = 1_024

/** One field of all tasks: a value for each, or the one that all have. */
type Column<T extends string | number | boolean | null> = ReadonlyArray<T> | T
/** A field of whole numbers: the first, and the step to each next one. */
type Steps = readonly [first: number, steps: Column<number>]
/** A field that most tasks do not have: the indices of those that do, and what they have. */
type Few<T> = ReadonlyArray<readonly [index: number, value: T]>

interface Page {
  readonly id: ReadonlyArray<string>
  readonly key: ReadonlyArray<string>
  readonly number: Steps
  readonly group: Column<number>
  readonly priority: Column<number>
  readonly timeout: Column<number>
  readonly maxRetries: Column<number>
  readonly backoffSeconds: Column<number>
  readonly enqueuedAt: Steps
  readonly enqueuedRevision: Steps
  readonly status: Column<number>
  readonly retries: Column<number>
  readonly attempts: Column<number>
  readonly dueAt: Column<number>
  readonly finishedAt: Steps
  readonly lastRevision: Steps
  readonly dependencies: Few<ReadonlyArray<string>>
  readonly rare: Few<Rare>
  readonly isLeased: Column<boolean>
  /** Of those that are, in their order. */
  readonly lease: {
    readonly agent: Column<string>
    readonly token: Steps
    readonly claimedAt: Steps
    readonly expiresAt: Steps
    readonly epoch: Column<number>
    readonly probe: Column<boolean>
    readonly end: Column<LeaseEnd | null>
  }
}

/** `tasks` as text, at least one of them; `groups` says at which index the reader will know each group. */
export const pageText = (tasks: ReadonlyArray<TaskRecord>, groups: ReadonlyMap<Group, number>): string => {
  const leases = tasks.flatMap(({ lease }) => (lease === null ? [] : lease))
  const page: Page = {
    id: tasks.map(({ id }) => id),
    key: tasks.map(({ key }) => key),
    number: steps(tasks, ({ number }) => number),
    group: column(tasks, ({ group }) => groups.get(group) as number),
    priority: column(tasks, ({ priority }) => priority),
    timeout: column(tasks, ({ timeout }) => timeout),
    maxRetries: column(tasks, ({ maxRetries }) => maxRetries),
    backoffSeconds: column(tasks, ({ backoffSeconds }) => backoffSeconds),
    enqueuedAt: steps(tasks, ({ enqueuedAt }) => enqueuedAt),
    enqueuedRevision: steps(tasks, ({ enqueuedRevision }) => enqueuedRevision),
    status: column(tasks, ({ status }) => statuses.indexOf(status)),
    retries: column(tasks, ({ retries }) => retries),
    attempts: column(tasks, ({ attempts }) => attempts),
    dueAt: column(tasks, ({ dueAt }) => dueAt),
    finishedAt: steps(tasks, ({ finishedAt }) => finishedAt),
    lastRevision: steps(tasks, ({ lastRevision }) => lastRevision),
    dependencies: few(tasks, ({ dependencies }) => (dependencies.length === 0 ? undefined : dependencies)),
    rare: few(tasks, ({ rare }) => (isEmpty(rare) ? undefined : rare)),
    isLeased: column(tasks, ({ lease }) => lease !== null),
    lease: {
      agent: column(leases, ({ agent }) => agent),
      token: steps(leases, ({ token }) => token),
      claimedAt: steps(leases, ({ claimedAt }) => claimedAt),
      expiresAt: steps(leases, ({ expiresAt }) => expiresAt),
      epoch: column(leases, ({ epoch }) => epoch),
      probe: column(leases, ({ probe }) => probe),
      end: column(leases, ({ end }) => end),
    },
  }
  return JSON.stringify(page)
}

const column = <A, T extends string | number | boolean | null>(items: ReadonlyArray<A>, field: (item: A) => T): Column<T> => {
  const values = items.map(field)
  const first = values[0]
  return first !== undefined && values.every((value) => value === first) ? first : values
}

const steps = <A>(items: ReadonlyArray<A>, field: (item: A) => number): Steps => {
  const [head] = items
  if (head === undefined) return [0, []]
  const first = field(head)
  let before = first
  const taken = column(items.slice(1), (item) => {
    const value = field(item)
    const step = value - before
    before = value
    return step
  })
  return [first, taken]
}

const few = <T>(tasks: ReadonlyArray<TaskRecord>, field: (task: TaskRecord) => T | undefined): Few<T> => {
  const found: Array<readonly [number, T]> = []
  tasks.forEach((task, index) => {
    const value = field(task)
    if (value !== undefined) found.push([index, value])
  })
  return found
}

const isEmpty = (value: object): boolean => {
  for (const _ in value) return false
  return true
}

/** The tasks of a page. Equal agents' names are one string each, by `shared`. Throws where the text is no page. */
export const pageOf = (
  text: string,
  groups: ReadonlyArray<Group>,
  shared: (agent: string) => string,
): ReadonlyArray<TaskRecord> => {
  const page = JSON.parse(text) as Page
  const { id, key } = page
  const count = id.length
  const number = sums(page.number, count)
  const group = values(page.group, count)
  const priority = values(page.priority, count)
  const timeout = values(page.timeout, count)
  const maxRetries = values(page.maxRetries, count)
  const backoffSeconds = values(page.backoffSeconds, count)
  const enqueuedAt = sums(page.enqueuedAt, count)
  const enqueuedRevision = sums(page.enqueuedRevision, count)
  const status = values(page.status, count)
  const retries = values(page.retries, count)
  const attempts = values(page.attempts, count)
  const dueAt = values(page.dueAt, count)
  const finishedAt = sums(page.finishedAt, count)
  const lastRevision = sums(page.lastRevision, count)
  const dependencies = new Map(page.dependencies)
  const rare = new Map(page.rare)
  const isLeased = values(page.isLeased, count)
  const leases = leasesOf(page.lease, isLeased.filter(Boolean).length, shared)
  let leased = 0
  return id.map((own, i) => {
    const task = newTaskRecord({
      number: number[i] as number,
      id: own,
      key: key[i] as string,
      group: groups[group[i] as number] as Group,
      priority: priority[i] as number,
      timeout: timeout[i] as number,
      maxRetries: maxRetries[i] as number,
      backoffSeconds: backoffSeconds[i] as number,
      enqueuedAt: enqueuedAt[i] as number,
      enqueuedRevision: enqueuedRevision[i] as number,
      dependencies: dependencies.get(i) ?? noIds,
      status: statuses[status[i] as number] as Status,
      retries: retries[i] as number,
      missing: 0,
      dueAt: dueAt[i] as number,
      finishedAt: finishedAt[i] as number,
      rare: rare.get(i) ?? noRare,
    })
    task.attempts = attempts[i] as number
    task.lastRevision = lastRevision[i] as number
    if (isLeased[i] === true) task.lease = leases[leased++] as Lease
    return task
  })
}
const noIds: ReadonlyArray<string> = []

const leasesOf = (lease: Page['lease'], count: number, shared: (agent: string) => string): ReadonlyArray<Lease> => {
  const agent = values(lease.agent, count)
  const token = sums(lease.token, count)
  const claimedAt = sums(lease.claimedAt, count)
  const expiresAt = sums(lease.expiresAt, count)
  const epoch = values(lease.epoch, count)
  const probe = values(lease.probe, count)
  const end = values(lease.end, count)
  return Array.from({ length: count }, (_, i) => ({
    agent: shared(agent[i] as string),
    token: token[i] as number,
    claimedAt: claimedAt[i] as number,
    expiresAt: expiresAt[i] as number,
    epoch: epoch[i] as number,
    probe: probe[i] as boolean,
    end: end[i] as LeaseEnd | null,
  }))
}

const values = <T extends string | number | boolean | null>(from: Column<T>, count: number): ReadonlyArray<T> => {
  const all = isList(from) ? from : new Array<T>(count).fill(from)
  if (all.length !== count) throw new Error(`${all.length} values for ${count} tasks`)
  return all
}

const isList = <T extends string | number | boolean | null>(from: Column<T>): from is ReadonlyArray<T> => Array.isArray(from)

const sums = ([first, from]: Steps, count: number): ReadonlyArray<number> => {
  if (count === 0) return []
  let sum = first
  return [first, ...values(from, count - 1).map((step) => (sum += step))]
}
