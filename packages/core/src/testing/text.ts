/**
 * The text of a state, for comparisons and for people: texts are equal if and only if the states are (INV-15). It contains every field of every
 * record and every index in its order, and shares no code with snapshots. New fields and indexes are included automatically. Lists whose
 * inner structure depends on how they were filled are shown by their contents.
 */
import { QueueState } from '../queue-state.js'
import { FairShare } from '../ready/fair-share.js'
import { SortedList } from '../sorted-list.js'
import type { Breaker, Group, TaskRecord, TenantShare } from '../state.js'
import type { Tables } from '../tables.js'
import { isFinal } from '../task.js'
import { TaskNumbers } from '../task-numbers.js'
import { TextIndex } from '../text-index.js'

/**
 * Members of the tables and records that are not part of the state: undo log, walks, hash seed, and the kept shapes of
 * claims. The groups show which of their tasks are ready.
 */
const beside: ReadonlySet<string> = new Set(['undoLog', 'walks', 'seed', 'ready', 'shapes', 'shapesVersion', 'turns', 'savedFor'])

export const textOf = (state: QueueState): string => {
  const tables = QueueState.tablesOf(state)
  return entriesOf(tables)
    .filter(([name]) => !beside.has(name))
    .map(([name, value]) => `${name}: ${tableText(value, tables)}`)
    .join('\n')
}

/** The lines in which two texts of states differ, for people; empty if they are equal. */
export const differenceOf = (left: string, right: string): string => {
  const only = (sign: string, text: string, other: string): ReadonlyArray<string> => {
    const known = new Set(other.split('\n'))
    return text.split('\n').flatMap((line) => (known.has(line) ? [] : [`${sign} ${line.trim()}`]))
  }
  return left === right ? '' : [...only('-', left, right), ...only('+', right, left)].join('\n')
}

const tableText = (value: unknown, tables: Tables): string => {
  if (value instanceof TaskNumbers) return lines([...value.values()].map(recordText))
  if (value instanceof FairShare) return sharesText(value)
  if (value instanceof TextIndex) return indexText(value as TextIndex<TaskRecord>, tables)
  if (!(value instanceof Map)) return isRecord(value) ? recordText(value) : valueText(value)
  const entries = [...(value as ReadonlyMap<string, unknown>)].sort(([a], [b]) => (a < b ? -1 : 1))
  return lines(entries.map(([key, member]) => `${key} ${isRecord(member) ? recordText(member) : valueText(member)}`))
}

const lines = (texts: ReadonlyArray<string>): string => texts.map((text) => `\n  ${text}`).join('')

/** All fields of a record except the one of the undo log. */
const recordText = (record: object): string =>
  entriesOf(record)
    .filter(([name, value]) => !beside.has(name) || value instanceof SortedList)
    .map(([name, value]) => `${name}=${memberText(name, value)}`)
    .join(' ')

const memberText = (name: string, value: unknown): string => {
  if (name === 'dependents') return valueText(waiting(value as TaskRecord['dependents']))
  // In which lanes the tasks are depends on when they were placed.
  if (name === 'lanes') return valueText((value as Group['lanes']).flatMap((lane) => [...lane]).sort((a, b) => a.number - b.number))
  return valueText(value)
}

const sharesText = ({ byTenant }: FairShare): string => lines([...byTenant.values()].map(recordText).sort())

/** The dependents without cancelled ones, which may stay there until they are evicted. */
const waiting = (dependents: ReadonlyArray<TaskRecord>): ReadonlyArray<TaskRecord> => dependents.filter(({ status }) => !isFinal(status))

/** The tasks that a text index finds by the id and by the key of each task. */
const indexText = (index: TextIndex<TaskRecord>, tables: Tables): string => {
  const found = [...tables.byNumber.values()].map(({ number, id, key }) => `\n  #${number} ${valueText(index.get(id))} ${valueText(index.get(key))}`)
  return `${index.size}${found.join('')}`
}

/** A value inside a record; other records are shown by their names only. */
const valueText = (value: unknown): string => {
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : String(value)
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value !== 'object' || value === null) return String(value)
  if (Array.isArray(value)) return value.length === 0 ? '()' : `(${value.map(valueText).join(' ')})`
  if (value instanceof SortedList) return value.size === 0 ? '-' : `${value.size} (${[...(value as SortedList<unknown>)].map(valueText).join(' ')})`
  if (value instanceof Set) return `{${[...(value as ReadonlySet<unknown>)].map(valueText).sort().join(' ')}}`
  if (isTask(value)) return `#${value.number}`
  if (isGroup(value)) return `[${value.key}]`
  if (isShare(value)) return `[${String(value.name)}]`
  if (isBreaker(value)) return `[${value.type}]`
  const own = value instanceof Map ? [...(value as ReadonlyMap<string, unknown>)] : entriesOf(value)
  const members = own.filter(([, member]) => typeof member !== 'function').sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, member]) => `${name}: ${valueText(member)}`).join(', ')}}`
}

/** The entries without `undefined` values. */
const entriesOf = (value: object): Array<[string, unknown]> => Object.entries(value).filter(([, member]) => member !== undefined)

const isTask = (value: object): value is TaskRecord => 'enqueuedRevision' in value
const isGroup = (value: object): value is Group => 'byStatus' in value
const isShare = (value: object): value is TenantShare => 'turn' in value && 'groups' in value
const isBreaker = (value: object): value is Breaker => 'halfOpenAt' in value
const isRecord = (value: unknown): value is object => typeof value === 'object' && value !== null && (isTask(value) || isGroup(value) || isBreaker(value) || 'savedFor' in value)
