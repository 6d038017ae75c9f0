/**
 * A tenant's open groups that match a shape of claims. If many of their tasks may be the first, these tasks are kept in order, so that a claim need
 * not look at each. Lanes with the same id are ordered alike at any time (`policy.ts`). So one sorted list for each id is exact, whatever the time of
 * the claim.
 */
import type { Group } from '../records/group.js'
import { SmallSet } from '../structures/small-set.js'
import type { Account, TenantShare } from '../records/records.js'
import { headsOf } from './group-tasks.js'
import { Heads } from './heads.js'
import type { Placements } from './placements.js'
import { ManyGroups } from './tenant-groups.js'
import type { TurnList } from './turn-list.js'

/** Up to this many tasks of a tenant, a claim looks at one by one. */
const looksMax = 32

export class ShapeTurn {
  /** Never empty. */
  private readonly groups = new SmallSet<Group>()
  /** `undefined` until a claim needs the order, and while the tasks are few: then looking at each is as fast. */
  own: Heads | undefined = undefined

  constructor(
    readonly list: TurnList,
    readonly share: TenantShare,
    /** By which the shape's tenants take turns. */
    readonly account: Account,
    private readonly places: Placements,
    group: Group,
  ) {
    this.groups.add(group)
  }

  get hasGroups(): boolean {
    return this.groups.size > 0
  }

  /** The tasks that may be the first, in order; `undefined` if no order is kept. */
  get heads(): Heads | undefined {
    return this.ofTenant ?? this.own
  }

  [Symbol.iterator](): Iterator<Group> {
    return this.groups[Symbol.iterator]()
  }

  /** Whether this group is in it. */
  has(group: Group): boolean {
    const { shape } = this.list
    return group.isOpen && group.share === this.share && shape.matches(group) && shape.listOf(group) === this.list
  }

  add(group: Group): void {
    this.groups.add(group)
    this.own?.addGroup(group)
  }

  remove(group: Group): void {
    this.groups.delete(group)
    this.own?.removeGroup(group)
  }

  /** Sorts the tasks that may be the first, if there are many. From now on they are kept in order. */
  sort(): void {
    const { many } = this
    if (many === undefined || this.heads !== undefined || !this.hasManyHeads()) return
    this.own = new Heads(this.places, this.groups)
    many.sorted++
  }

  /** Called when the shape is dropped, or when there are no more groups. */
  end(): void {
    if (this.own !== undefined && this.many !== undefined) this.many.sorted--
    this.own = undefined
  }

  /** The tenant's own order, if the list has all of the tenant's open groups without a section. */
  private get ofTenant(): Heads | undefined {
    const { many, groups, list } = this
    return list.section === undefined && list.shape.isKept && groups.size === many?.open ? many.heads : undefined
  }

  /** `undefined` if the tenant has one group: its lanes are as many as those of an order would be. */
  private get many(): ManyGroups | undefined {
    const { groups } = this.share
    return groups instanceof ManyGroups ? groups : undefined
  }

  private hasManyHeads(): boolean {
    if (this.groups.isLarge) return true
    let heads = 0
    for (const group of this.groups) heads += headsOf(group).length
    return heads > looksMax
  }
}
