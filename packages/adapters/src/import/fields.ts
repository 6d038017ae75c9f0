/** Readers of single field values. Each returns a value that Daybook accepts, or `undefined`. */
import { type FieldValue, type ImportedField, importedFields, instantMax, isTimeField, type Json, type JsonObject, Name, type PreparedField, preparedFields, TaskId, taskFields, type TimeField } from '@daybook/core/common'
import { isObject } from '../is-object.js'
import { readTime } from '../time.js'

/** Reads ISO 8601 with a date, or a number of seconds or milliseconds since 1970; the two are distinguished by their size. */
export const readInstant = (value: unknown): string | undefined => {
  const ms = typeof value === 'number' ? (value >= 1e11 ? value : value * 1_000) : typeof value === 'string' ? readTime(value) : undefined
  return ms !== undefined && ms >= 0 && ms <= instantMax ? new Date(ms).toISOString() : undefined
}

/** A number, or a text of one; `NaN` for any other value. */
export const readNumber = (value: unknown): number =>
  typeof value === 'number' ? value : typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value.trim()) ? Number(value) : Number.NaN

const whole = (max: number) => (value: unknown): number | undefined => {
  const read = readNumber(value)
  return Number.isInteger(read) && read >= 0 && read <= max ? read : undefined
}
const name = (value: unknown): string | undefined => {
  const text = typeof value === 'number' ? String(value) : value
  return Name.is(text) ? text : undefined
}
export const readId = (value: unknown): string | undefined => {
  const text = typeof value === 'number' ? String(value) : value
  return TaskId.is(text) ? text : undefined
}
/** Reads `{"skills": […]}`. A list of names is read by `dependencies.ts`, because the names may be tasks. */
export const readSkills = (value: unknown): { readonly skills: ReadonlyArray<string> } | undefined => {
  if (!isRecord(value) || Object.keys(value).some((key) => key !== 'skills')) return undefined
  const { skills } = value
  return Array.isArray(skills) && skills.every(Name.is) ? { skills } : undefined
}

export const isRecord = (value: unknown): value is JsonObject => isObject(value)

/** Fields with a reader of their own, one that an import ignores, and the batch, which the queue of the import does not have. */
const others = ['dependencies', 'skills', 'deduplicate', 'batchId'] as const satisfies ReadonlyArray<PreparedField>
export type PlainField = Exclude<PreparedField, (typeof others)[number]> | ImportedField
/** Times are ISO 8601. */
export type PlainFields = { readonly [K in PlainField]?: K extends TimeField ? string : FieldValue<K> }

/** The fields that {@link readField} reads. */
export const plainFields: ReadonlyArray<PlainField> = [...preparedFields.filter((field): field is Exclude<PlainField, ImportedField> => !others.some((other) => other === field)), ...importedFields]

/** The first reading of the value that the field accepts: unchanged, as a number, as a text, in upper case. */
export const readField = (field: PlainField, value: Json): PlainFields[PlainField] | undefined => {
  if (isTimeField(field)) return readInstant(value)
  const readings = [value, readNumber(value), ...(typeof value === 'number' ? [String(value)] : []), ...(typeof value === 'string' ? [value.toUpperCase()] : [])]
  return readings.find((reading): reading is FieldValue<PlainField> => taskFields[field].codec.is(reading))
}
export const readName = name
export const readCount = whole(1_000_000)
