/** One queue file, in any of the shapes found in the wild. */
import type { Json } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import { isRecord } from './fields.js'
import { inexactEntries } from './inexact.js'
import { mapTask } from './map-task.js'
import { notes } from './notes.js'
import { stageOfFile } from './status.js'
import type { Found, QueueFile, Refused } from './types.js'

/** Members that hold the tasks, in the order in which they are looked for. */
const listNames = ['tasks', 'queue'] as const

/**
 * Reads `{"tasks": […]}`, `{"queue": […]}` or a bare list, of objects or of texts.
 *
 * Pure, and total: a file that cannot be read at all is one refusal by its name, a task that cannot be
 * taken is one refusal by its id, and everything else is taken.
 *
 * @example
 * readQueueFile('["write the docs"]', 'pending.json').found[0].task.description // => 'write the docs'
 */
export const readQueueFile = (text: string, name: string): QueueFile => {
  const said = notes()
  const refused: Array<Refused> = []
  const found: Array<Found> = []
  const list = listOf(text)
  if (E.isLeft(list)) return { name, found, mapped: [], refused: [{ file: name, why: list.left }] }

  const { entries, listName, others } = list.right
  if (others.length > 0) said.note(name, `the file's own fields are no tasks, and were left: ${others.sort().join(', ')}`)
  const stage = stageOfFile(name)
  const inexact = inexactEntries(text)
  entries.forEach((entry, i) => {
    const wrong = inexact.get(`${listName}[${i}]`)
    if (wrong !== undefined) {
      const task = isRecord(entry) && typeof entry.id === 'string' ? entry.id : `#${i + 1}`
      return void refused.push({ file: name, task, why: `${wrong.path}: ${wrong.message}` })
    }
    const mapped = mapTask(entry, { file: name, index: i + 1, stage, note: (what, task) => said.note(name, what, task) })
    if (E.isLeft(mapped)) refused.push(mapped.left)
    else found.push(mapped.right)
  })
  return { name, found, mapped: said.all(), refused }
}

interface Entries {
  readonly entries: ReadonlyArray<Json>
  /** Of the list, empty for a bare one. */
  readonly listName: string
  readonly others: Array<string>
}

const listOf = (text: string): E.Either<string, Entries> => {
  const body = text.replace(/^\ufeff/, '')
  if (body.trim() === '') return E.left('is empty')
  let value: Json
  try {
    value = JSON.parse(body) as Json
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    // A file that was being written has a good beginning and no end.
    const cut = /end of JSON|Unterminated/i.test(reason) || /^[[{]/.test(body.trim()) && !/[\]}]\s*$/.test(body)
    return E.left(cut ? `breaks off in the middle (${reason}): it may have been being written` : `is not JSON: ${reason}`)
  }
  if (Array.isArray(value)) return E.right({ entries: value as ReadonlyArray<Json>, listName: '', others: [] })
  if (isRecord(value)) {
    for (const name of listNames) {
      const list = value[name]
      if (Array.isArray(list)) return E.right({ entries: list as ReadonlyArray<Json>, listName: name, others: Object.keys(value).filter((key) => key !== name) })
    }
  }
  return E.left('holds no list of tasks: {"tasks": […]}, {"queue": […]} or a list was expected')
}
