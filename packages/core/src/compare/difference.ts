/** The first difference between two states of a queue, for people (INV-15). Tasks are compared one by one, so it needs little memory. */
import { QueueState } from '../fold/queue-state.js'
import type { TaskRecord } from '../records/records.js'
import type { Tables } from '../state/tables.js'
import { areSame, type Contents, recordContents, sign, tableContents } from './contents.js'
import { textOfContents } from './text.js'

/** What the two states have there, as text. `undefined` for nothing. */
export interface Difference {
  readonly about: string
  readonly left: string | undefined
  readonly right: string | undefined
}

/** `undefined` if the states are equal. Tasks come first: most other tables follow from them. */
export const differenceBetween = (left: QueueState, right: QueueState): Difference | undefined => {
  const [a, b] = [QueueState.tablesOf(left), QueueState.tablesOf(right)]
  const found = inRecords('the queue', a.head, b.head) ?? inTasks(a, b)
  if (found !== undefined) return found
  for (const name in a) {
    const table = name as keyof Tables
    if (table === 'head' || table === 'byNumber') continue
    const inThis = inTable(table, tableContents(a, table), tableContents(b, table))
    if (inThis !== undefined) return inThis
  }
  return undefined
}

const inTasks = (a: Tables, b: Tables): Difference | undefined => {
  const [ours, theirs] = [a.byNumber.values(), b.byNumber.values()]
  for (;;) {
    const [left, right] = [ours.next().value as TaskRecord | undefined, theirs.next().value as TaskRecord | undefined]
    if (left === undefined && right === undefined) return undefined
    // The one with the lower number is missing in the other state.
    const first = right === undefined || (left !== undefined && left.number <= right.number) ? left : right
    const about = `task ${String(first?.id)} (#${String(first?.number)})`
    if (left === undefined || right === undefined || left.number !== right.number) {
      return { about, left: first === left ? first?.status : undefined, right: first === right ? first?.status : undefined }
    }
    const found = inRecords(about, left, right)
    if (found !== undefined) return found
  }
}

const inRecords = (about: string, left: object, right: object): Difference | undefined => {
  const [a, b] = [recordContents(left), recordContents(right)]
  if (areSame(a, b)) return undefined
  const [ours, theirs] = [fieldsIn(a), fieldsIn(b)]
  for (const name of new Set([...ours.keys(), ...theirs.keys()])) {
    if (ours.get(name) !== theirs.get(name)) return { about: `${about}, ${name}`, left: ours.get(name), right: theirs.get(name) }
  }
  return undefined
}

/** The texts of a record's fields. */
const fieldsIn = (contents: Contents): ReadonlyMap<string, string> => {
  const fields = new Map<string, string>()
  let depth = 0
  let begin = 0
  const end = (at: number): void => {
    if (at > begin) fields.set(String(contents[begin + 1]), textOfContents(contents.slice(begin + 2, at)))
    begin = at
  }
  contents.forEach((part, at) => {
    if (part === sign.object || part === sign.list) depth++
    else if (part === sign.endOfObject || part === sign.endOfList) depth--
    else if (part === sign.field && depth === 0) end(at)
  })
  end(contents.length)
  return fields
}

const inTable = (name: string, a: Contents, b: Contents): Difference | undefined => {
  if (areSame(a, b)) return undefined
  const [ours, theirs] = [linesOf(a), linesOf(b)]
  const only = (lines: ReadonlyArray<string>, others: ReadonlyArray<string>): string | undefined => {
    const known = new Set(others)
    return lines.find((line) => !known.has(line))
  }
  return { about: `the table ${name}`, left: only(ours, theirs), right: only(theirs, ours) }
}

const linesOf = (contents: Contents): ReadonlyArray<string> => textOfContents(contents).split('\n').map((line) => line.trim())
