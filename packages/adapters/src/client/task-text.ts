/** A task as it is sent. */
import { canonicalJson } from '@daybook/core'
import type { DaybookError } from './errors.js'
import { textOf } from './gather.js'

/**
 * JSON text of a new task, or why there is none. The payload is printed in its canonical form where that is possible.
 * The server needs that form. Printing it here costs less than it saves there.
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

/** A plain object: how it is printed depends on its members alone. */
const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype && !('toJSON' in value)

/** `undefined` for what is no JSON as it stands. `JSON.stringify` may still print it, as it does a `Date`. */
const canonicalTextOf = (payload: unknown): string | undefined => {
  if (typeof payload !== 'object' || payload === null) return undefined
  try {
    return canonicalJson(payload)
  } catch {
    return undefined
  }
}
