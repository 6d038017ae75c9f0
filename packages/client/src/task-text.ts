/** The JSON of a task in a request. */
import { canonicalJson } from '@daybook/core/common'
import type { DaybookError } from './errors.js'
import { textOf } from './transport/gather.js'

/**
 * JSON text of a new task, or the error if it has none. The payload is printed in its canonical form if possible. The server needs that form, and
 * printing it here costs less than it saves there.
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

/** Whether the value is a plain object, which is printed from its members alone. */
const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype && !('toJSON' in value)

/** Canonical text; `undefined` for a value that is not JSON. `JSON.stringify` may still print such a value, for example a `Date`. */
const canonicalTextOf = (payload: unknown): string | undefined => {
  if (typeof payload !== 'object' || payload === null) return undefined
  try {
    return canonicalJson(payload)
  } catch {
    return undefined
  }
}
