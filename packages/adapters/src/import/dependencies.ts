/** The dependencies of a task, in all the forms that queue files use. */
import type { Json } from '@daybook/core'
import type { Given } from './field-names.js'
import { isRecord, readId } from './fields.js'
import type { MaybeDependencies } from './types.js'

export interface Dependencies {
  readonly ids: ReadonlyArray<string>
  readonly hadNumbers: boolean
}

/** Joins the dependencies given under all names. Returns the field that cannot be read, if there is one. */
export const readDependencies = (given: ReadonlyArray<Given>): Dependencies | Given => {
  const ids = new Set<string>()
  let hadNumbers = false
  for (const one of given) {
    const values = Array.isArray(one.value) ? (one.value as ReadonlyArray<Json>) : [one.value]
    for (const value of values) {
      const id = readId(idIn(value))
      if (id === undefined) return one
      hadNumbers ||= typeof value === 'number'
      ids.add(id)
    }
  }
  return { ids: [...ids], hadNumbers }
}

/** The id, if the value is an id or an object with one. */
const idIn = (value: Json): Json => (isRecord(value) ? (value.id ?? value.taskId ?? value.task_id ?? null) : value)

/** A field that is in the metadata, too, under the name `keptAs`. */
export interface KeptField {
  readonly given: Given
  readonly keptAs: string
}

/** Names that are dependencies only if they are ids of tasks: `requires` may also list skills, and a payload may mean something else by `dependencies`. */
export const maybeDependencies = (requires: KeptField | undefined, payload: Json | undefined): ReadonlyArray<MaybeDependencies> => {
  const maybe: Array<MaybeDependencies> = []
  const names = requires === undefined ? [] : namesIn(requires.given.value)
  if (requires !== undefined && names.length > 0) maybe.push({ names, field: requires.given.name, metadata: requires.keptAs })
  if (!isRecord(payload)) return maybe
  for (const field of payloadFields) {
    const within = namesIn(payload[field] ?? null)
    if (within.length > 0) maybe.push({ names: within, field: `payload.${field}` })
  }
  return maybe
}
const payloadFields = ['dependencies', 'dependsOn', 'depends_on', 'blockedBy', 'blocked_by']

/** The names, if the value is a name or a list of names; otherwise empty. */
const namesIn = (value: Json): ReadonlyArray<string> => {
  const ids = (Array.isArray(value) ? (value as ReadonlyArray<Json>) : [value]).map(readId)
  return ids.every((id) => id !== undefined) ? [...new Set(ids)] : []
}

export const isGiven = (read: Dependencies | Given): read is Given => 'value' in read
