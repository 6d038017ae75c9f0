/** The JSON of a task in a request. */
import { canonicalJson } from '@daybook/core/common'
import type { DaybookError } from './errors.js'
import { textOf } from './transport/gather.js'

/**
 * JSON text of a new task, or the error if it has none. The payload is printed in its canonical form if possible. The server needs that form, and
 * printing it here costs less than it saves there.
 */
export const taskTextOf = (task: unknown): string | DaybookError => {
  if (!isPlain(task)) return textOf(task, refuseLoss)
  const { payload, ...rest } = task
  const others = textOf(rest)
  if (payload === undefined || typeof others !== 'string') return others
  const text = canonicalTextOf(payload) ?? textOf(payload, refuseLoss)
  return typeof text === 'string' ? `${others.slice(0, -1)}${others.length > 2 ? ',' : ''}"payload":${text}}` : text
}

/** JSON text of a body with what users give. Numbers, functions and maps that JSON would change or leave out are an error. */
export const exactTextOf = (body: unknown): string | DaybookError => textOf(body, refuseLoss)

/** Whether the value is a plain object, which is printed from its members alone. */
const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype && !('toJSON' in value)

/** Canonical text; `undefined` for a value that is not JSON. `JSON.stringify` may still print such a value, for example a `Date`. */
const canonicalTextOf = (payload: unknown): string | undefined => {
  try {
    return canonicalJson(payload)
  } catch {
    return undefined
  }
}

/** A replacer for `JSON.stringify` that throws for values which it would leave out or change. */
const refuseLoss = (key: string, value: unknown): unknown => {
  const kind = kindLost(value)
  if (kind !== undefined) throw new Error(`${key === '' ? 'the payload' : key} is ${kind}, which is no JSON value`)
  return value
}

const kindLost = (value: unknown): string | undefined => {
  switch (typeof value) {
    case 'number':
      return Number.isFinite(value) ? undefined : String(value)
    case 'function':
    case 'symbol':
      return `a ${typeof value}`
    case 'object':
      return value instanceof Map ? 'a Map' : value instanceof Set ? 'a Set' : undefined
    default:
      return undefined
  }
}
