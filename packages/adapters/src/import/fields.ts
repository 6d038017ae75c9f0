/** Readers of single field values. Each returns a value that Daybook takes, or `undefined`. */
import { type Json, type JsonObject, Name, type Phase, phases, TaskId } from '@daybook/core'
import { readTime } from '../time.js'
import type { ImportTask } from './types.js'

/** Milliseconds of the latest time that Daybook knows. */
const instantMax = 253_402_300_799_999

/** ISO 8601 with a date, or a number of seconds or milliseconds since 1970 (told apart by their size). */
export const readInstant = (value: unknown): string | undefined => {
  const ms = typeof value === 'number' ? (value >= 1e11 ? value : value * 1_000) : typeof value === 'string' ? readTime(value) : undefined
  return ms !== undefined && ms >= 0 && ms <= instantMax ? new Date(ms).toISOString() : undefined
}

/** A number, or a text of one; `NaN` for anything else. */
export const readNumber = (value: unknown): number =>
  typeof value === 'number' ? value : typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value.trim()) ? Number(value) : Number.NaN

const seconds = (min: number) => (value: unknown): number | undefined => {
  const read = readNumber(value)
  return read >= min && read <= 10 * 365 * 86_400 ? read : undefined
}
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
const phase = (value: unknown): Phase | undefined =>
  typeof value === 'string' ? phases.find((known) => known === value.toUpperCase()) : undefined

/** `{"skills": […]}`. A list of names is read by `dependencies.ts`: they may be tasks. */
export const readSkills = (value: unknown): { readonly skills: ReadonlyArray<string> } | undefined => {
  if (!isRecord(value) || Object.keys(value).some((key) => key !== 'skills')) return undefined
  const { skills } = value
  return Array.isArray(skills) && skills.every(Name.is) ? { skills } : undefined
}

export const isRecord = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

type Simple = 'timeout' | 'maxRetries' | 'backoffSeconds' | 'availableAt' | 'deadlineAt' | 'ticketId' | 'phase' | 'tenant' | 'parentTaskId'

/** The reader of each field. */
export const simpleFields: { readonly [K in Simple]: (value: Json) => ImportTask[K] | undefined } = {
  timeout: seconds(0.001),
  maxRetries: whole(1_000),
  backoffSeconds: seconds(0),
  availableAt: readInstant,
  deadlineAt: readInstant,
  ticketId: name,
  phase,
  tenant: name,
  parentTaskId: readId,
}
export const readName = name
export const readCount = whole(1_000_000)
