/**
 * Limits that stand apart. A limit that counts many groups would open and close thousands of them for each task that starts or ends while it is
 * full. So the groups of such a limit stay open, in a list of their own in each shape of claims, and a claim passes over the list while the limit is
 * full. No decision depends on which limits stand apart.
 */
import type { Group } from '../records/group.js'
import type { ClaimShape } from '../ready/claim-shape.js'
import { isShut, type Meter } from './meter.js'

/** The limits of a group that stand apart: that of its concurrency key, of its type, or both. Groups with the same ones have the same section. */
export interface Section {
  readonly meters: ReadonlyArray<Meter>
}

/** What a meter that stands apart knows. */
export interface Apart {
  /** The kept shapes with open groups of the meter. */
  readonly shapes: Set<ClaimShape>
  readonly alone: Section
  /** The sections of groups with two such meters. Only of the meter that comes first in `Group.meters`. */
  readonly pairs: WeakMap<Meter, Section>
}

export const standApart = (meter: Meter): void => {
  meter.apart = { shapes: new Set(), alone: { meters: [meter] }, pairs: new WeakMap() }
}

/** The section of the group; `undefined` if none of its limits stands apart. */
export const sectionOf = ({ meters }: Group): Section | undefined => {
  let section: Section | undefined
  for (const meter of meters) {
    if (meter.apart === undefined) continue
    const [first] = section?.meters ?? none
    section = first?.apart === undefined ? meter.apart.alone : pairOf(first, first.apart, meter)
  }
  return section
}
const none: ReadonlyArray<never> = []

const pairOf = (first: Meter, { pairs }: Apart, second: Meter): Section => {
  let pair = pairs.get(second)
  if (pair === undefined) pairs.set(second, (pair = { meters: [first, second] }))
  return pair
}

export const isSectionShut = ({ meters }: Section): boolean => {
  for (const meter of meters) if (isShut(meter)) return true
  return false
}

/** Whether claims may take tasks of this group now: it is open, and its limits that stand apart are not full. */
export const isTakeable = (group: Group): boolean => {
  if (!group.isOpen) return false
  const section = sectionOf(group)
  return section === undefined || !isSectionShut(section)
}
