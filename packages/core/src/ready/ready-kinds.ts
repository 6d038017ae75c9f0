/** The kinds of groups with ready tasks, in the order of their keys. A key begins with the type, so kinds whose types match a pattern are neighbours. */
import type { Group, GroupKind } from '../records/group.js'
import { SortedList } from '../structures/sorted-list.js'

export class ReadyKinds {
  private readonly byKey = new SortedList<GroupKind>(() => 0, (a, b) => (a.key < b.key ? -1 : 1))

  get size(): number {
    return this.byKey.size
  }

  add(kind: GroupKind): void {
    this.byKey.add(kind)
  }

  remove(kind: GroupKind): void {
    this.byKey.remove(kind)
  }

  /** The kinds whose type matches a pattern, such as `eng-*`. Cost: O(log n), and O(1) for each. */
  *ofType(pattern: string): Generator<GroupKind, void> {
    // In a key, a line break follows the type.
    const prefix = pattern.endsWith('*') ? pattern.slice(0, -1) : `${pattern}\n`
    for (const cursor = this.byKey.seekPast(({ key }) => key < prefix); cursor.item?.key.startsWith(prefix) === true; cursor.advance()) yield cursor.item
  }

  *groups(): Generator<Group, void> {
    for (const { ready } of this.byKey) yield* ready
  }
}
