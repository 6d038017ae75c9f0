/** The kinds of groups in the state. */
import { GroupKind } from './group.js'
import type { ListsByStatus } from './state.js'
import type { Phase } from './task.js'

export class GroupKinds {
  private readonly byKey = new Map<string, GroupKind>()

  constructor(private readonly lists: ReadonlyMap<Phase | undefined, ListsByStatus>) {}

  /** The kind with these fields, which is about to have a group. `key`: see {@link kindKey}. */
  of(key: string, type: string, phase: Phase | undefined, skills: ReadonlyArray<string>, concurrencyKey: string | undefined): GroupKind {
    const known = this.byKey.get(key)
    if (known !== undefined) return known
    const sorted = skills.length === 0 ? noSkills : [...skills].sort()
    const kind = new GroupKind(key, type, phase, sorted, concurrencyKey, this.lists.get(phase) as ListsByStatus)
    this.byKey.set(key, kind)
    return kind
  }

  all(): Iterable<GroupKind> {
    return this.byKey.values()
  }

  /** One more group of this kind has tasks. */
  join(kind: GroupKind): void {
    if (kind.size++ === 0) this.byKey.set(kind.key, kind)
  }

  /** One group less has tasks. */
  part(kind: GroupKind): void {
    if (--kind.size === 0) this.byKey.delete(kind.key)
  }
}
const noSkills: ReadonlyArray<never> = []

/** The key of a kind with these fields. Names have no line breaks, so no two kinds have the same one. */
export const kindKey = (type: string, phase: Phase | undefined, skills: ReadonlyArray<string>, concurrencyKey: string | undefined): string => {
  if (concurrencyKey === undefined && skills.length === 0) return phase === undefined ? type : `${type}\n${phase}`
  return [type, phase, concurrencyKey, ...[...skills].sort()].join('\n')
}
