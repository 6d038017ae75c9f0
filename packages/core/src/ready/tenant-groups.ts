/** A tenant's groups that have tasks. One is kept by itself: a queue may have a million tenants with one group each. */
import type { Group, GroupKind } from '../group.js'
import { Heads } from './heads.js'
import type { Placements } from './placements.js'

export type TenantGroups = ManyGroups | Group | undefined

/** A tenant with more open groups has its first tasks kept in order, as long as it has tasks. */
const groupsMax = 16

/** The groups of a tenant that has had more than one since it last had none. */
export class ManyGroups {
  readonly byKind = new Map<GroupKind, Group>()
  /** How many are open. */
  open: number
  /** How many of the tenant's places in the kept shapes keep their own order of first tasks: see `shape-turn.ts`. */
  sorted = 0
  /** The first tasks of all open groups in order, if these are many. */
  heads: Heads | undefined = undefined

  constructor(first: Group) {
    this.byKind.set(first.kind, first)
    this.open = first.isOpen ? 1 : 0
  }

  opened(group: Group): void {
    this.open++
    this.heads?.addGroup(group)
  }

  /** Puts the first tasks in order if there are many open groups. */
  sort(places: Placements): void {
    if (this.heads !== undefined || this.open <= groupsMax) return
    this.heads = new Heads(places, [...this.byKind.values()].filter(({ isOpen }) => isOpen))
  }

  closed(group: Group): void {
    this.open--
    this.heads?.removeGroup(group)
  }
}

/** The group of this kind. */
export const groupIn = (groups: TenantGroups, kind: GroupKind): Group | undefined => {
  if (groups instanceof ManyGroups) return groups.byKind.get(kind)
  return groups?.kind === kind ? groups : undefined
}

/** The group must not be in it. */
export const withGroup = (groups: TenantGroups, group: Group): TenantGroups => {
  if (groups === undefined) return group
  const many = groups instanceof ManyGroups ? groups : new ManyGroups(groups)
  many.byKind.set(group.kind, group)
  return many
}

/** The group must be in it. */
export const withoutGroup = (groups: TenantGroups, group: Group): TenantGroups => {
  if (!(groups instanceof ManyGroups)) return undefined
  groups.byKind.delete(group.kind)
  return groups.byKind.size === 0 ? undefined : groups
}

export const groupsIn = (groups: TenantGroups): Iterable<Group> =>
  groups === undefined ? none : groups instanceof ManyGroups ? groups.byKind.values() : [groups]
const none: ReadonlyArray<never> = []

/** How many of them are open. */
export const openIn = (groups: TenantGroups): number => (groups instanceof ManyGroups ? groups.open : groups?.isOpen === true ? 1 : 0)

/** Whether the tenant of this group has an open one. Mostly it is this one. */
export const hasOpenGroup = ({ isOpen, share }: Group): boolean => isOpen || openIn(share.groups) > 0
