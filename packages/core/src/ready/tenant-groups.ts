/** A tenant's groups that have tasks, by key. One is kept by itself, without a map: a queue may have a million tenants with one group each. */
import type { Group } from '../state.js'

export type TenantGroups = Map<string, Group> | Group | undefined

export const groupIn = (groups: TenantGroups, key: string): Group | undefined => {
  if (groups instanceof Map) return groups.get(key)
  return groups?.key === key ? groups : undefined
}

/** The group must not be in it. */
export const withGroup = (groups: TenantGroups, group: Group): TenantGroups => {
  if (groups === undefined) return group
  return (groups instanceof Map ? groups : new Map([[groups.key, groups]])).set(group.key, group)
}

/** The group must be in it. */
export const withoutGroup = (groups: TenantGroups, group: Group): TenantGroups => {
  if (!(groups instanceof Map)) return undefined
  groups.delete(group.key)
  return groups.size === 0 ? undefined : groups
}

export const groupsIn = (groups: TenantGroups): Iterable<Group> => (groups === undefined ? none : groups instanceof Map ? groups.values() : [groups])
const none: ReadonlyArray<never> = []
