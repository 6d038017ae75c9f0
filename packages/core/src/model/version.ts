/** The version of Daybook, and the versions that can read its events. */
import type { EventType } from './events.js'

export const daybookVersion = '0.1.0'

/**
 * By event type: the first version that can read its present shape. Types that 0.1.0 can read are left out. The version is recorded in the metadata
 * of each such event as `needs`, so an older server can say which version it needs.
 *
 * A type needs a row if it is new, if its shape has changed, or if it has a new field that the fold needs.
 */
export const needsOf: Partial<Record<EventType, string>> = {}

const form = /^(\d+)\.(\d+)\.(\d+)/

/** Whether one version is newer than another. A text that is not a version is older than all versions. */
export const isNewer = (one: string, other: string): boolean => {
  const [a, b] = [form.exec(one), form.exec(other)]
  if (a === null || b === null) return a !== null
  for (let part = 1; part <= 3; part++) if (a[part] !== b[part]) return Number(a[part]) > Number(b[part])
  return false
}
