/** Finds the lists of tasks in a file. */
import type { Json, JsonObject } from '@daybook/core'
import type { Steps } from '../read-json.js'
import { isRecord } from './fields.js'
import { meaningOf } from './status.js'
import type { Stage } from './types.js'

export interface TaskList {
  /** Empty if the file itself is the list. */
  readonly name: string
  /** The stage that the list's name means. */
  readonly stage: Stage | undefined
  readonly entries: ReadonlyArray<Entry>
}

export interface Entry {
  /** Its position in the file: `[2]`, `['tasks', 2]`, `['tasks', 'T-1']`. */
  readonly at: Steps
  readonly value: Json
}

export interface NamedEntries {
  readonly name: string
  readonly entries: number
}

export interface FoundLists {
  readonly lists: ReadonlyArray<TaskList>
  /** Lists of objects with unknown names. */
  readonly unknown: ReadonlyArray<NamedEntries>
  /** Objects that have the name of a list, and may contain tasks, but not simply by their ids. */
  readonly unclear: ReadonlyArray<NamedEntries>
  /** Objects with unknown names that have lists of tasks, and the number of these tasks. */
  readonly nested: ReadonlyArray<NamedEntries>
  /** The names of all other members of the file. */
  readonly others: ReadonlyArray<string>
}

/** `undefined` if the file has no list that could be one of tasks. */
export const listsIn = (file: Json): FoundLists | undefined => {
  if (Array.isArray(file)) return { lists: [listOf('', undefined, file as ReadonlyArray<Json>)], unknown: [], unclear: [], nested: [], others: [] }
  if (!isRecord(file)) return undefined
  const lists: Array<TaskList> = []
  const unknown: Array<NamedEntries> = []
  const unclear: Array<NamedEntries> = []
  const nested: Array<NamedEntries> = []
  const others: Array<string> = []
  for (const [name, value] of Object.entries(file)) {
    const meaning = meaningOf(name)
    const entries = Array.isArray(value) ? (value as ReadonlyArray<Json>) : undefined
    if (meaning !== undefined && entries !== undefined) lists.push(listOf(name, meaning.stage, entries))
    else if (meaning !== undefined && isRecord(value) && areTasks(value)) lists.push(keyedList(name, meaning.stage, value))
    else if (meaning !== undefined && isRecord(value) && Object.values(value).some(isNested)) unclear.push({ name, entries: Object.keys(value).length })
    else if (entries?.some(isRecord) === true) unknown.push({ name, entries: entries.length })
    else if (meaning === undefined && isRecord(value) && tasksWithin(value) > 0) nested.push({ name, entries: tasksWithin(value) })
    else others.push(name)
  }
  return [lists, unknown, unclear, nested].every(({ length }) => length === 0) ? undefined : { lists, unknown, unclear, nested, others }
}

const listOf = (name: string, stage: Stage | undefined, values: ReadonlyArray<Json>): TaskList => ({
  name,
  stage,
  entries: values.map((value, i) => ({ at: name === '' ? [i] : [name, i], value })),
})

/** `{"tasks": {"T-1": {…}, "T-2": {…}}}`. */
const areTasks = (value: JsonObject): boolean => Object.values(value).every(isRecord)

/** How deep in the file's objects lists are looked for. */
const depthMax = 3

/** The number of objects in lists within this one that have the name of a list of tasks. */
const tasksWithin = (value: JsonObject, depth = 1): number =>
  Object.entries(value).reduce((sum, [name, member]) => {
    if (Array.isArray(member)) return sum + (meaningOf(name) === undefined ? 0 : (member as ReadonlyArray<Json>).filter(isRecord).length)
    return sum + (isRecord(member) && depth < depthMax ? tasksWithin(member, depth + 1) : 0)
  }, 0)

const isNested = (value: Json): boolean => typeof value === 'object' && value !== null

const keyedList = (name: string, stage: Stage | undefined, tasks: JsonObject): TaskList => ({
  name,
  stage,
  entries: Object.entries(tasks).map(([id, task]) => ({ at: [name, id], value: isRecord(task) ? { id, ...task } : task })),
})
