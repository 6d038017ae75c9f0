/** The version of Daybook, and what newer ones say about which version can read their events. */
import type { EventType } from './events.js'

export const daybookVersion = '0.1.0'

/**
 * The first version that understands events of this type as they are written now. Left out for what 0.1.0 understands.
 * It goes into the metadata of each such event as `needs`, so an older server can tell which version it takes.
 *
 * A type needs a row when it is new, when its shape has changed, and when it has a new field that the fold needs.
 */
export const needsOf: Partial<Record<EventType, string>> = {}

const form = /^(\d+)\.(\d+)\.(\d+)/

/** Whether one version is newer than another. Text that is no version is older than all. */
export const isNewer = (one: string, other: string): boolean => {
  const [a, b] = [form.exec(one), form.exec(other)]
  if (a === null || b === null) return a !== null
  for (let part = 1; part <= 3; part++) if (a[part] !== b[part]) return Number(a[part]) > Number(b[part])
  return false
}
