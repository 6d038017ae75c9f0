/** Reads one queue file, in any of the shapes that are in use. */
import { type FieldError, type Json, type JsonObject, plural } from '@daybook/core/common'
import * as E from 'fp-ts/lib/Either.js'
import { errorText } from '../error-text.js'
import { repeatedMembers, type Steps } from '../read-json.js'
import { isRecord } from './fields.js'
import { inexactIn } from './inexact.js'
import { type FoundLists, listsIn } from './lists.js'
import { mapTask } from './map-task.js'
import { notes } from './notes.js'
import { meaningOf, stageOfFile } from './status.js'
import { type Found, type QueueFile, type Refused, tasksIn } from './types.js'

/**
 * Reads a list of tasks, or an object with lists of tasks: `{"tasks": […]}`, `{"pending": […], "completed": […]}`. A task is an object or a text.
 *
 * Pure and total. Each entry is found, or refused by its id or position. A list with an unknown name is refused by that name, and a file that cannot
 * be read by its own.
 *
 * @example
 * readQueueFile('["write the docs"]', 'pending.json').found[0].task.description // => 'write the docs'
 */
export const readQueueFile = (text: string, name: string): QueueFile => {
  const parsed = parse(text)
  if (E.isLeft(parsed)) return unreadable(name, parsed.left)
  const inFile = listsIn(parsed.right)
  if (inFile === undefined) return unreadable(name, 'holds no list of tasks: {"tasks": […]}, {"pending": […], "completed": […]} or a list was expected')
  const revision = revisionIn(parsed.right)
  const repeated = isRecord(parsed.right) ? repeatedIn(text, parsed.right, name) : []
  const read = readLists(inFile, name, inexactIn(text))
  return { ...read, entries: read.entries + tasksIn(repeated), refused: [...repeated, ...read.refused], ...(revision === undefined ? {} : { revision }) }
}

/** Lists, and tasks by their ids, that the file has more than once. Only the last of them is read. */
const repeatedIn = (text: string, file: JsonObject, name: string): ReadonlyArray<Refused> =>
  repeatedMembers(text.replace(/^\ufeff/, ''), 2).flatMap(([list, id]): ReadonlyArray<Refused> => {
    if (typeof list !== 'string' || meaningOf(list) === undefined) return []
    if (id === undefined) return [{ file: name, why: `the list "${list}" is there more than once, and only the last one is read: make one list of them`, tasks: 0 }]
    const isOfLast = isRecord(file[list] ?? null) && typeof id === 'string'
    return isOfLast ? [{ file: name, task: id, why: 'is there more than once under this id, and only the last one is read: give each its own id', tasks: 1 }] : []
  })

const revisionIn = (file: Json): number | undefined =>
  isRecord(file) && typeof file.revision === 'number' && typeof file.total === 'number' && Array.isArray(file.tasks) ? file.revision : undefined

/** The result for a file that cannot be read: its number of tasks is unknown. */
export const unreadable = (name: string, why: string): QueueFile => ({
  name, isQueueFile: false, entries: 0, found: [], mapped: [], refused: [{ file: name, why, tasks: 0 }],
})

const readLists = ({ lists, unknown, unclear, nested, others }: FoundLists, name: string, inexactAt: (at: Steps) => FieldError | undefined): QueueFile => {
  const said = notes()
  const found: Array<Found> = []
  const refused: Array<Refused> = unknown.map((list) => ({
    file: name,
    why: `the list "${list.name}" is left out (${plural(list.entries, 'entry', 'entries')}): its name says no status that is known; rename it to tasks, pending, completed or the like`,
    tasks: list.entries,
  }))
  for (const { name: list, entries: tasks } of unclear) {
    refused.push({ file: name, why: `"${list}" is left out (${plural(tasks, 'member')}): it is an object, but not of tasks by their ids; make it a list, or rename it if these are no tasks`, tasks })
  }
  for (const { name: object, entries: tasks } of nested) {
    refused.push({ file: name, why: `the lists within "${object}" are left out (${plural(tasks, 'entry', 'entries')}): move them to the top of the file, or rename them if these are no tasks`, tasks })
  }
  if (others.length > 0) said.note(name, `the file's own fields are no tasks, and were left: ${[...others].sort().join(', ')}`)
  const stage = stageOfFile(name)
  const around = stage === undefined ? undefined : { name: name.replace(/^.*[\\/]|\.json$/gi, ''), stage }
  let entries = [...unknown, ...unclear, ...nested].reduce((sum, list) => sum + list.entries, 0)
  for (const list of lists) {
    entries += list.entries.length
    const ofList = list.stage === undefined ? undefined : { name: list.name, stage: list.stage }
    list.entries.forEach(({ at, value }, i) => {
      const position = lists.length === 1 ? `#${i + 1}` : `#${i + 1} of ${list.name}`
      const note = (what: string, task: string): void => said.note(name, what, task)
      const mapped = mapTask(value, { file: name, position, list: ofList, around, inexact: inexactAt(at), note })
      if (E.isLeft(mapped)) refused.push(mapped.left)
      else found.push(mapped.right)
    })
  }
  return { name, isQueueFile: lists.length > 0, entries, found, mapped: said.all(), refused }
}

const parse = (text: string): E.Either<string, Json> => {
  const body = text.replace(/^\ufeff/, '')
  if (body.trim() === '') return E.left('is empty')
  try {
    return E.right(JSON.parse(body) as Json)
  } catch (error) {
    const reason = errorText(error)
    // A file that is just being written has a valid beginning and no end.
    const cut = /end of JSON|Unterminated/i.test(reason) || (/^[[{]/.test(body.trim()) && !/[\]}]\s*$/.test(body))
    return E.left(cut ? `breaks off in the middle (${reason}): it may have been being written` : `is not JSON: ${reason}`)
  }
}
