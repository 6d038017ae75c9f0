/** What a task waits for, in the ways in which queue files say it. */
import type { Json } from '@daybook/core'
import type { Given } from './field-names.js'
import { isRecord, readId } from './fields.js'
import type { MaybeDependencies } from './types.js'

export interface Dependencies {
  readonly ids: ReadonlyArray<string>
  readonly hadNumbers: boolean
}

/** All that is given under any name for dependencies; or the one that cannot be read. */
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

/** An id by itself, or a task or reference that has one. */
const idIn = (value: Json): Json => (isRecord(value) ? (value.id ?? value.taskId ?? value.task_id ?? null) : value)

/**
 * Names that are dependencies if they turn out to be tasks: `requires` may as well list skills, and a payload has
 * words of its own.
 */
export const maybeDependencies = (requires: Given | undefined, payload: Json | undefined): ReadonlyArray<MaybeDependencies> => {
  const maybe: Array<MaybeDependencies> = []
  const names = requires === undefined ? [] : namesIn(requires.value)
  if (requires !== undefined && names.length > 0) maybe.push({ names, field: requires.name, metadata: requires.name })
  if (!isRecord(payload)) return maybe
  for (const field of payloadFields) {
    const within = namesIn(payload[field] ?? null)
    if (within.length > 0) maybe.push({ names: within, field: `payload.${field}` })
  }
  return maybe
}
const payloadFields = ['dependencies', 'dependsOn', 'depends_on', 'blockedBy', 'blocked_by']

/** Of a name, or a list of nothing but names. */
const namesIn = (value: Json): ReadonlyArray<string> => {
  const ids = (Array.isArray(value) ? (value as ReadonlyArray<Json>) : [value]).map(readId)
  return ids.every((id) => id !== undefined) ? [...new Set(ids)] : []
}

export const isGiven = (read: Dependencies | Given): read is Given => 'value' in read
