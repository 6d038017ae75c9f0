/** Helpers of the checkers: short access to the views, and errors with the found and the expected value. */
import { isDeepStrictEqual } from 'node:util'
import type { QueueEvent } from '@daybook/core'
import { holds } from './world.js'

export const taskIn = (event: QueueEvent): string | undefined => ('task' in event.data ? event.data.task : undefined)
export const all = Number.MAX_SAFE_INTEGER
export const json = (value: unknown): string => JSON.stringify(value)
export const same = (got: unknown, want: unknown, what: string): void =>
  holds(Object.is(got, want) || isDeepStrictEqual(got, want), () => `${what}:\n  got  ${json(got)}\n  want ${json(want)}`)
