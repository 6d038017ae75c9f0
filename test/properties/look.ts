/** Helpers of the checkers: short access to the views, and errors with the found and the expected value. */
import { isDeepStrictEqual } from 'node:util'
import type { QueueEvent } from '@daybook/core'
import { holds } from './world.js'

export const taskIn = (event: QueueEvent): string | undefined => ('task' in event.data ? event.data.task : undefined)
export const all = Number.MAX_SAFE_INTEGER
export const json = (value: unknown): string => JSON.stringify(value)
export const same = (got: unknown, want: unknown, what: string): void =>
  holds(isEqualData(got, want) || isDeepStrictEqual(got, want), () => `${what}:\n  got  ${json(got)}\n  want ${json(want)}`)

/** Whether both are the same plain data. A third of the cost of `isDeepStrictEqual`, which is asked about everything else. */
const isEqualData = (a: unknown, b: unknown): boolean => {
  if (Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false
    for (let i = 0; i < a.length; i++) if (!isEqualData(a[i], b[i])) return false
    return true
  }
  if (!isPlain(a) || !isPlain(b)) return false
  let members = 0
  for (const name in a) {
    members++
    if (!Object.hasOwn(b, name) || !isEqualData(a[name], b[name])) return false
  }
  for (const _ in b) members--
  return members === 0
}

const isPlain = (value: object): value is Readonly<Record<string, unknown>> => Object.getPrototypeOf(value) === Object.prototype
