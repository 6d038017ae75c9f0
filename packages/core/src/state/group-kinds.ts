/** The kinds of groups in the state. */
import { GroupKind } from '../records/group.js'
import type { ListsByStatus } from '../records/records.js'
import type { Phase } from '../model/task.js'

export class GroupKinds {
  /** Most kinds have neither skills nor a concurrency key. These are found by phase and type, because the kind of each new task is looked up. */
  private readonly plain: ReadonlyMap<Phase | undefined, Map<string, GroupKind>>
  /** All other kinds, by {@link GroupKind.key}. */
  private readonly others = new Map<string, GroupKind>()

  constructor(private readonly lists: ReadonlyMap<Phase | undefined, ListsByStatus>) {
    this.plain = new Map([...lists.keys()].map((phase) => [phase, new Map<string, GroupKind>()]))
  }

  /** The kind with these fields. The caller adds a group to it. */
  of(type: string, phase: Phase | undefined, skills: ReadonlyArray<string>, concurrencyKey: string | undefined): GroupKind {
    const isPlain = concurrencyKey === undefined && skills.length === 0
    const known = isPlain ? this.plain.get(phase)?.get(type) : this.others.get(keyOf(type, phase, skills, concurrencyKey))
    if (known !== undefined) return known
    const sorted = skills.length === 0 ? noSkills : [...skills].sort()
    const kind = new GroupKind(keyOf(type, phase, skills, concurrencyKey), type, phase, sorted, concurrencyKey, this.lists.get(phase) as ListsByStatus)
    this.add(kind)
    return kind
  }

  *all(): Generator<GroupKind, void> {
    for (const kinds of this.plain.values()) yield* kinds.values()
    yield* this.others.values()
  }

  /** Counts one more group of this kind with tasks. */
  join(kind: GroupKind): void {
    if (kind.size++ === 0) this.add(kind)
  }

  /** Counts one group less of this kind with tasks. */
  part(kind: GroupKind): void {
    if (--kind.size > 0) return
    if (isPlain(kind)) this.plain.get(kind.phase)?.delete(kind.type)
    else this.others.delete(kind.key)
  }

  private add(kind: GroupKind): void {
    if (isPlain(kind)) this.plain.get(kind.phase)?.set(kind.type, kind)
    else this.others.set(kind.key, kind)
  }
}
const noSkills: ReadonlyArray<never> = []

const isPlain = ({ skills, concurrencyKey }: GroupKind): boolean => concurrencyKey === undefined && skills.length === 0

/** The key of a kind with these fields. Names have no line breaks, so keys are unique. */
const keyOf = (type: string, phase: Phase | undefined, skills: ReadonlyArray<string>, concurrencyKey: string | undefined): string =>
  [type, phase, concurrencyKey, ...[...skills].sort()].join('\n')
