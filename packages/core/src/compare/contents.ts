/**
 * The contents of a state as a flat list, for comparisons: the lists are equal if and only if the states are (INV-15). The list has every field of
 * every record and every index in its order, and shares no code with snapshots. New fields and indexes are included automatically. Collections whose
 * inner structure depends on how they were filled are listed by their contents. `text.ts` prints the list for people.
 */
import { FinishedTasks } from '../finished/finished-tasks.js'
import { QueueState } from '../fold/queue-state.js'
import { Limits } from '../limits/limits.js'
import type { Meter } from '../limits/meter.js'
import { isTakeable } from '../limits/section.js'
import { FairShare, type Pool } from '../ready/fair-share.js'
import { readyIn } from '../ready/group-tasks.js'
import { groupsIn } from '../ready/tenant-groups.js'
import { Group, GroupKind } from '../records/group.js'
import type { Account, Breaker, TaskRecord } from '../records/records.js'
import { AgentRegister } from '../state/agent-register.js'
import { Alerts } from '../state/alerts.js'
import { TasksByNumber, TasksByText } from '../state/all-tasks.js'
import { Batches } from '../state/batches.js'
import { Breakers, byType } from '../state/breakers.js'
import { Deadlines } from '../state/deadlines.js'
import { GroupKinds } from '../state/group-kinds.js'
import { Schedules } from '../state/schedules.js'
import { StatusList } from '../state/status-lists.js'
import type { Tables } from '../state/tables.js'
import { SortedList } from '../structures/sorted-list.js'

/** Values, and the markers of {@link sign} between them. */
export type Contents = ReadonlyArray<unknown>

/** The marker before a table's name, a line, a field's name, the name of another record, and the members of a list or an object. */
export const sign = {
  table: Symbol('table'),
  line: Symbol('line'),
  field: Symbol('field'),
  task: Symbol('#'),
  group: Symbol('group '),
  share: Symbol('share '),
  breaker: Symbol('breaker '),
  list: Symbol('('),
  endOfList: Symbol(')'),
  object: Symbol('{'),
  endOfObject: Symbol('}'),
} as const

/**
 * Members of the tables and records that are not part of the state: undo log, walks, noted changes, hash seed, and the kept shapes of claims. Others
 * are listed elsewhere: the groups show which of their tasks are ready, and the indexes of all tasks contain those of unfinished ones.
 */
const beside: ReadonlySet<string> = new Set(['undoLog', 'walks', 'changed', 'seed', 'unfinished', 'ids', 'keys', 'ready', 'turns', 'meters', 'place', 'savedFor', 'isOpen'])

export const contentsOf = (state: QueueState): Contents => {
  const tables = QueueState.tablesOf(state)
  const into: Array<unknown> = []
  for (const name in tables) {
    if (!isPart(tables, name)) continue
    into.push(sign.table, name)
    addTable(into, tables[name], tables)
  }
  return into
}

const isPart = (tables: Tables, name: string): name is keyof Tables => !beside.has(name) && isShown(tables[name as keyof Tables])

/** The contents of one table. Empty if the state has nothing in it. */
export const tableContents = (tables: Tables, name: keyof Tables): Contents => {
  const into: Array<unknown> = []
  if (isPart(tables, name)) addTable(into, tables[name], tables)
  return into
}

export const recordContents = (record: object): Contents => {
  const into: Array<unknown> = []
  addRecord(into, record)
  return into
}

export const areSame = (a: Contents, b: Contents): boolean => {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i] && !Object.is(a[i], b[i])) return false
  return a.length === b.length
}

type Parts = Array<unknown>

const addTable = (into: Parts, value: unknown, tables: Tables): void => {
  if (value instanceof TasksByNumber) {
    for (const task of value.values()) {
      into.push(sign.line)
      addRecord(into, task)
    }
  } else if (value instanceof FairShare) {
    for (const share of [...value.byTenant.values()].sort(byName)) {
      into.push(sign.line)
      addRecord(into, share)
      into.push([...groupsIn(share.groups)].filter(isTakeable).map(({ kind }) => kind.key).sort().join())
      for (const group of [...groupsIn(share.groups)].sort(byKey)) {
        into.push(sign.line)
        addRecord(into, group)
      }
    }
    for (const { type, turn, leases, readyTenants, byTenant, idle } of [...value.pools()].sort(byPoolType)) {
      into.push(sign.line, type, turn, leases, readyTenants)
      addList(into, [...idle].map(({ name }) => name))
      if (type === undefined) continue
      for (const account of [...byTenant.values()].sort(byName)) {
        into.push(sign.line)
        addRecord(into, account)
      }
    }
  } else if (value instanceof GroupKinds) {
    for (const { key, size } of [...value.all()].sort((a, b) => (a.key < b.key ? -1 : 1))) into.push(sign.line, key, size)
  } else if (value instanceof Alerts) {
    for (const alert of value.all()) {
      into.push(sign.line)
      addObject(into, alert)
    }
    addObject(into, value.failures)
    addList(into, [...value.changed].sort())
    addList(into, value.critical)
  } else if (value instanceof Breakers) {
    for (const breaker of [...value.values()].sort(byType)) {
      into.push(sign.line)
      addRecord(into, breaker)
    }
    addList(into, [...value.cooling].map(({ type }) => type))
  } else if (value instanceof Schedules) {
    for (const schedule of value.all()) {
      into.push(sign.line)
      addObject(into, { ...schedule, isWaiting: value.waitingFor(schedule.held?.after ?? '') === schedule })
    }
    addList(into, [...value.due].map(({ name }) => name))
  } else if (value instanceof Batches) {
    for (const { live, ...batch } of value.all()) {
      into.push(sign.line)
      addObject(into, { ...batch, live: [...live] })
    }
    into.push(value.size, value.unfinished, value.textSize, value.endedCount, value.firstEnded()?.id)
    addList(into, value.ripeOnes())
  } else if (value instanceof AgentRegister) {
    for (const agent of [...value.entries(), ...value.live(0)]) {
      into.push(sign.line)
      addObject(into, agent)
    }
  } else if (value instanceof Deadlines) {
    for (const { name, until } of value) into.push(sign.line, name, until)
  } else if (value instanceof Limits) {
    for (const [key, limit] of sortedEntries(value.set)) {
      into.push(sign.line, key)
      addValue(into, limit)
    }
    for (const [key, meter] of sortedEntries(value.meters)) {
      const { limit, live, starts, shutUntil, groups } = meter as Meter
      into.push(sign.line, key)
      addValue(into, { limit, live, starts: starts?.list(), shutUntil, isClosed: value.closed.has(meter as Meter), groups: [...groups].map((group) => `${group.kind.key} ${group.tenant}`).sort() })
    }
  } else if (value instanceof TasksByText) addIndex(into, value, tables)
  else if (value instanceof FinishedTasks) {
    into.push(value.size, value.byKey.size, value.names, value.oldestAt)
    addList(into, [...value].map(({ number }) => number))
  }
  else if (value instanceof Map) {
    for (const [key, member] of sortedEntries(value as ReadonlyMap<string, unknown>)) {
      into.push(sign.line, key)
      addMember(into, member)
    }
  } else addMember(into, value)
}

/** The tasks that a text index finds by the id and by the key of each task. */
const addIndex = (into: Parts, index: TasksByText, tables: Tables): void => {
  into.push(index.size)
  for (const task of tables.byNumber.values()) {
    into.push(sign.line, task.number)
    addValue(into, index.get(task.id))
    addValue(into, index.get(task.key))
  }
}

const addMember = (into: Parts, member: unknown): void => (isRecord(member) ? addRecord(into, member) : addValue(into, member))

/** All fields of a record except those beside the state. */
const addRecord = (into: Parts, record: object): void => {
  for (const name in record) {
    const value = (record as Fields)[name]
    if (beside.has(name) || !isShown(value)) continue
    into.push(sign.field, name)
    // The groups of a tenant are listed after it.
    if (name === 'groups') continue
    // Whether the ready tasks are in lanes, and in which, depends on when they were added.
    if (name === 'readyTasks') addList(into, [...readyIn(record as Group)].sort(byNumber))
    else addValue(into, value)
  }
}
type Fields = Readonly<Record<string, unknown>>

/** A value inside a record. Other records are listed by their names only. */
const addValue = (into: Parts, value: unknown): void => {
  if (typeof value !== 'object' || value === null) into.push(value)
  else if (Array.isArray(value) || value instanceof SortedList || value instanceof StatusList) addList(into, value)
  else if (value instanceof Set) addList(into, [...(value as ReadonlySet<number>)].sort((a, b) => a - b))
  else if (isTask(value)) into.push(sign.task, value.number)
  else if (isGroup(value)) into.push(sign.group, value.kind.key, sign.share, value.share.name)
  else if (value instanceof GroupKind) into.push(value.key)
  else if (isAccount(value)) into.push(sign.share, value.name, value.pool.type)
  else if (isPool(value)) into.push(value.type)
  else if (isBreaker(value)) into.push(sign.breaker, value.type)
  else addObject(into, value)
}

const addList = (into: Parts, values: Iterable<unknown>): void => {
  into.push(sign.list)
  for (const value of values) addValue(into, value)
  into.push(sign.endOfList)
}

/** Sorted by name, because the order of an object's members is not part of the state. */
const addObject = (into: Parts, value: object): void => {
  into.push(sign.object)
  if (value instanceof Map) {
    for (const [key, member] of sortedEntries(value as ReadonlyMap<string, unknown>)) {
      into.push(sign.field, key)
      addValue(into, member)
    }
  } else {
    for (const name of shownNames(value)) {
      into.push(sign.field, name)
      addValue(into, (value as Fields)[name])
    }
  }
  into.push(sign.endOfObject)
}

const shownNames = (value: object): Array<string> => {
  const names: Array<string> = []
  for (const name in value) if (isShown((value as Fields)[name])) names.push(name)
  return names.length > 1 ? names.sort() : names
}

/** Functions and empty lists are left out: there is a list for each phase, status and priority, and most are empty. */
const isShown = (value: unknown): boolean => {
  if (typeof value !== 'object') return value !== undefined && typeof value !== 'function'
  return !isEmptyList(value) && !(Array.isArray(value) && value.length > 0 && value.every(isEmptyList))
}
const isEmptyList = (value: unknown): boolean => (value instanceof SortedList || value instanceof StatusList) && value.size === 0

const sortedEntries = (map: ReadonlyMap<string, unknown>): ReadonlyArray<readonly [string, unknown]> =>
  [...map].sort(([a], [b]) => (String(a) < String(b) ? -1 : 1))

const byNumber = (a: TaskRecord, b: TaskRecord): number => a.number - b.number
const byKey = (a: Group, b: Group): number => (a.kind.key < b.kind.key ? -1 : 1)
const byPoolType = (a: Pool, b: Pool): number => ((a.type ?? '') < (b.type ?? '') ? -1 : 1)
const byName = (a: Account, b: Account): number => ((a.name ?? '') < (b.name ?? '') ? -1 : 1)

const isTask = (value: object): value is TaskRecord => 'enqueuedRevision' in value
const isGroup = (value: object): value is Group => value instanceof Group
const isAccount = (value: object): value is Account => 'pool' in value
const isPool = (value: object): value is Pool => 'readyTenants' in value
const isBreaker = (value: object): value is Breaker => 'halfOpenAt' in value
const isRecord = (value: unknown): value is object => typeof value === 'object' && value !== null && (isTask(value) || isGroup(value) || isBreaker(value) || 'savedFor' in value)
