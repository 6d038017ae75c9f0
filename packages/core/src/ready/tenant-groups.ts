/** A tenant's groups with tasks. A single group is kept without a collection: a queue may have a million tenants with one group each. */
import type { Group, GroupKind } from '../records/group.js'
import { sectionOf } from '../limits/section.js'
import { Heads } from './heads.js'
import type { Placements } from './placements.js'

export type TenantGroups = ManyGroups | Group | undefined

/** A tenant with more open groups than this has its first tasks kept in order for as long as it has tasks. */
const groupsMax = 16

/** The groups of a tenant that has had more than one since it was last without any. */
export class ManyGroups {
  readonly byKind = new Map<GroupKind, Group>()
  /** Number of open groups without a section. */
  open: number
  /** In how many of the kept shapes this tenant has an order of first tasks of its own: see `shape-turn.ts`. */
  sorted = 0
  /** The first tasks of these groups in order; only if they are many. */
  heads: Heads | undefined = undefined

  constructor(first: Group) {
    this.byKind.set(first.kind, first)
    this.open = isOpenAndPlain(first) ? 1 : 0
  }

  opened(group: Group): void {
    this.open++
    this.heads?.addGroup(group)
  }

  /** Puts the first tasks in order if there are many open groups. */
  sort(places: Placements): void {
    if (this.heads !== undefined || this.open <= groupsMax) return
    this.heads = new Heads(places, [...this.byKind.values()].filter(isOpenAndPlain))
  }

  closed(group: Group): void {
    this.open--
    this.heads?.removeGroup(group)
  }
}

const isOpenAndPlain = (group: Group): boolean => group.isOpen && sectionOf(group) === undefined

/** The group of this kind. */
export const groupIn = (groups: TenantGroups, kind: GroupKind): Group | undefined => {
  if (groups instanceof ManyGroups) return groups.byKind.get(kind)
  return groups?.kind === kind ? groups : undefined
}

/** Adds a group that is not in it. */
export const withGroup = (groups: TenantGroups, group: Group): TenantGroups => {
  if (groups === undefined) return group
  const many = groups instanceof ManyGroups ? groups : new ManyGroups(groups)
  many.byKind.set(group.kind, group)
  return many
}

/** Removes a group that is in it. */
export const withoutGroup = (groups: TenantGroups, group: Group): TenantGroups => {
  if (!(groups instanceof ManyGroups)) return undefined
  groups.byKind.delete(group.kind)
  return groups.byKind.size === 0 ? undefined : groups
}

export const groupsIn = (groups: TenantGroups): Iterable<Group> =>
  groups === undefined ? none : groups instanceof ManyGroups ? groups.byKind.values() : [groups]
const none: ReadonlyArray<never> = []
