/** A task as it is sent. */
import { canonicalJson } from '@daybook/core'
import type { DaybookError } from './errors.js'
import { textOf } from './gather.js'

/**
 * JSON text of a new task, or why there is none. The payload is printed canonically if that can be done: the server
 * wants it so, and has less to do than here when it comes so.
 */
export const taskTextOf = (task: unknown): string | DaybookError => {
  if (!isPlain(task)) return textOf(task)
  const { payload, ...rest } = task
  const canonical = canonicalTextOf(payload)
  if (canonical === undefined) return textOf(task)
  const others = textOf(rest)
  if (typeof others !== 'string') return others
  return `${others.slice(0, -1)}${others.length > 2 ? ',' : ''}"payload":${canonical}}`
}

/** Nothing but its members decides how it is printed. */
const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype && !('toJSON' in value)

/** `undefined` for what is no JSON as it stands, as a `Date`, which the native printer can make JSON of. */
const canonicalTextOf = (payload: unknown): string | undefined => {
  if (typeof payload !== 'object' || payload === null) return undefined
  try {
    return canonicalJson(payload)
  } catch {
    return undefined
  }
}
