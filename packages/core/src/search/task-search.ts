/**
 * Finds the tasks of a status that match a filter, in order, without looking at many others, whatever groups, types and tenants there are.
 *
 * There are two ways. The first walks the lists of all tasks of the status, which are in order, and passes over tasks that do not match: short if
 * many match. The second uses indexes by ticket, agent, type and tenant, which know the tasks that may match, and sorts these: short if they are few.
 * Which way is shorter is not known in advance. So both are tried in turn, each time with twice as many looks. In all, the search looks at a few
 * times as many tasks and groups as the shorter way needs.
 *
 * The indexes by type and tenant only have ready tasks. A search for other statuses, or by fields without an index, uses the lists alone.
 */
import type { TaskFilter } from '../model/commands.js'
import type { Group } from '../records/group.js'
import { Heap } from '../structures/heap.js'
import { readyIn } from '../ready/group-tasks.js'
import { groupIn, groupsIn } from '../ready/tenant-groups.js'
import { signatureOf } from '../state/dead-letter-index.js'
import type { TaskCursor } from '../state/status-lists.js'
import type { Tables } from '../state/tables.js'
import { isFinal, type Status } from '../model/task.js'
import { firstRankOf, holderOf, rankOf, type TaskRecord, type TenantShare } from '../records/records.js'
import { matchesType } from '../text/type-pattern.js'

/** Number of looks in the first try. */
const looksMin = 16

/** The tasks of this status that match and whose rank is beyond `from`, by rank. The state must not change while the generator is used. */
export const search = function* (tables: Tables, filter: TaskFilter, status: Status, from: number): Generator<TaskRecord, void> {
  const listed = scan(tables, filter, status, from)
  let passed = from
  for (let looks = looksMin; ; looks *= 2) {
    const few = fewOf(tables, filter, status, looks)
    if (few !== undefined) return yield* few.filter((task) => rankOf(task) > passed && matches(task, filter, status)).sort(byRank)
    for (let left = looks; left > 0; ) {
      const { value: task } = listed.next()
      if (task === undefined) return
      passed = rankOf(task)
      if (matches(task, filter, status)) yield task
      else left--
    }
  }
}
const byRank = (a: TaskRecord, b: TaskRecord): number => rankOf(a) - rankOf(b)

/** The matching tasks beyond `from`, by rank, found in the lists. */
const scan = function* (tables: Tables, filter: TaskFilter, status: Status, from: number): Generator<TaskRecord, undefined> {
  // The highest priority comes first, so ranks between these two bounds are those of the priorities asked for.
  const lowest = Math.max(from, firstRankOf(filter.priorityMax ?? 10) - 1)
  const beyond = firstRankOf((filter.priorityMin ?? 1) - 1)
  const cursors = listsOf(tables, filter, status).map((list) => list.seek(lowest + 1))
  const heads = new Heap<TaskCursor>((a, b) => rankOf(a.item as TaskRecord) < rankOf(b.item as TaskRecord))
  for (const cursor of cursors) if (cursor.item !== undefined) heads.add(cursor)
  for (let head = heads.first; head !== undefined; head = heads.first) {
    const task = head.item as TaskRecord
    if (rankOf(task) >= beyond) return
    head.advance()
    if (head.item === undefined) heads.removeFirst()
    else heads.sinkFirst()
    yield task
  }
}

/** The lists whose tasks may match: that of the dead letters with this signature, or those of the phases. */
const listsOf = (tables: Tables, filter: TaskFilter, status: Status): ReadonlyArray<{ readonly seek: (rank: number) => TaskCursor }> => {
  if (status === 'dead-letter' && filter.signature !== undefined) {
    return [...tables.deadLetters.entries(filter.signature)].map(({ byRank }) => byRank)
  }
  return [...tables.lists].flatMap(([phase, byStatus]) => (filter.phase === undefined || filter.phase === phase ? byStatus[status].filter(({ size }) => size > 0) : []))
}

/** A set of tasks that contains all that match, in no order; `undefined` if no index finds it within `looks` looks. */
const fewOf = (tables: Tables, filter: TaskFilter, status: Status, looks: number): ReadonlyArray<TaskRecord> | undefined => {
  const { ticketId, agent, waitsFor, batchId } = filter
  if (waitsFor !== undefined) return tables.byId.get(waitsFor)?.dependents ?? none
  if (ticketId !== undefined) {
    const numbers = tables.byTicket.get(ticketId)
    return numbers !== undefined && numbers.size > looks ? undefined : [...(numbers ?? none)].flatMap((number) => tables.byNumber.get(number) ?? [])
  }
  if (batchId !== undefined && !isFinal(status)) {
    const live = tables.batches.get(batchId)?.live
    return live !== undefined && live.size > looks ? undefined : [...(live ?? none)].flatMap((number) => tables.unfinished.get(number) ?? [])
  }
  if (agent !== undefined && (status === 'in-progress' || status === 'incomplete')) {
    const held = tables.leases.get(agent)
    return held !== undefined && held.size > looks ? undefined : [...(held ?? none)]
  }
  // The state of a past moment has no tasks in its groups until a question needs their order.
  return status === 'pending' && tables.ready.isOrdered ? fewReady(tables, filter, looks) : undefined
}
const none: ReadonlyArray<never> = []

/** The same for ready tasks: the tasks in the groups of the type or of the tenant. */
const fewReady = (tables: Tables, filter: TaskFilter, looks: number): ReadonlyArray<TaskRecord> | undefined => {
  const { type, tenant } = filter
  const share = tenant === undefined ? undefined : tables.shares.byTenant.get(tenant)
  const ofType = type === undefined ? undefined : fewIn(groupsOfType(tables, filter, type, share), filter, looks)
  return ofType ?? (tenant === undefined ? undefined : fewIn(groupsIn(share?.groups), filter, looks))
}

/** The groups of a type; if the filter names a tenant, only that tenant's. `undefined` stands for a look at a kind without such a group. */
const groupsOfType = function* (tables: Tables, { phase, tenant }: TaskFilter, type: string, share: TenantShare | undefined): Generator<Group | undefined, void> {
  for (const kind of tables.ready.kinds.ofType(type)) {
    if (phase !== undefined && phase !== kind.phase) yield undefined
    else if (tenant === undefined) yield* kind.ready
    else yield groupIn(share?.groups, kind)
  }
}

/** The ready tasks of the groups that fit; `undefined` if groups and tasks are more than `looks`. */
const fewIn = (groups: Iterable<Group | undefined>, filter: TaskFilter, looks: number): ReadonlyArray<TaskRecord> | undefined => {
  const fitting: Array<Group> = []
  let looked = 0
  for (const group of groups) {
    const doesFit = group !== undefined && fits(filter, group)
    if (doesFit) fitting.push(group)
    looked += 1 + (doesFit ? group.ready : 0)
    if (looked > looks) return undefined
  }
  return fitting.flatMap((group) => readyIn(group))
}

const fits = (filter: TaskFilter, group: Group): boolean =>
  (filter.type === undefined || matchesType(filter.type, group.type)) &&
  (filter.phase === undefined || filter.phase === group.phase) &&
  (filter.tenant === undefined || filter.tenant === group.tenant)

const matches = (task: TaskRecord, filter: TaskFilter, status: Status): boolean => {
  const { priorityMin = 1, priorityMax = 10, ticketId, batchId, agent, text, signature, error } = filter
  if (task.status !== status || !fits(filter, task.group)) return false
  if (task.priority < priorityMin || task.priority > priorityMax) return false
  if (ticketId !== undefined && task.extras.ticketId !== ticketId) return false
  if (batchId !== undefined && task.extras.batchId !== batchId) return false
  if (agent !== undefined && holderOf(task)?.agent !== agent) return false
  if (signature !== undefined && signatureOf(task) !== signature) return false
  if (filter.createdAfter !== undefined && task.enqueuedAt < filter.createdAfter) return false
  if (filter.createdBefore !== undefined && task.enqueuedAt >= filter.createdBefore) return false
  if (error !== undefined && task.extras.lastError?.toLowerCase().includes(error.toLowerCase()) !== true) return false
  if (filter.escalated !== undefined && filter.escalated !== (task.extras.escalated !== undefined)) return false
  if (filter.snoozed !== undefined && filter.snoozed !== (task.extras.snooze !== undefined)) return false
  if (text === undefined) return true
  const needle = text.toLowerCase()
  return [task.id, task.group.type, task.extras.ticketId, task.extras.lastError].some(
    (part) => part?.toLowerCase().includes(needle) === true,
  )
}
