/** Reasons of a task as they are answered. */
import type { Reason } from '@daybook/core'
import { isoOf } from './time.js'

/** With times in ISO 8601. */
export const shownReasons = (reasons: ReadonlyArray<Reason>): ReadonlyArray<object> =>
  reasons.map(({ until, ...reason }) => (until === undefined ? reason : { ...reason, until: isoOf(until) }))
