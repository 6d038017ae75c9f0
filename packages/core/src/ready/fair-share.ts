/**
 * Tenants' fair share (TQM-ASSIGN-004, INV-12): start-time fair queueing (Goyal, Vin, Cheng 1996) over leases granted. Each tenant has a virtual
 * time, its *turn*, which grows by 1/weight with each lease. The tenant with the least turn is served next. A tenant that had nothing to take comes
 * back at the virtual time of the last lease, so it has saved no credit. If it was ahead of that time, it stays ahead, unless {@link debtLeases}
 * leases were granted since its last.
 */
import type { Group } from '../records/group.js'
import { SortedList } from '../structures/sorted-list.js'
import type { Head, TenantShare } from '../records/records.js'
import type { UndoLog } from '../structures/undo-log.js'
import { byName } from './claim-shape.js'
import { groupsIn, withGroup, withoutGroup } from './tenant-groups.js'

/** The cost of a lease at weight 1, in virtual time. Divisible by 1 to 10, so that turns are whole numbers for the usual weights. */
export const turnUnit = 5_040_000
/** A tenant that comes back is charged for its last lease until this many later leases were granted. This bounds what is kept of tenants without tasks. */
export const debtLeases = 10_000
/** Beyond this virtual time all turns are reduced, so that they stay exact. */
const turnMax = 2 ** 51

export interface Weights {
  readonly [tenant: string]: number
}

/** The cost of a lease for this tenant, in virtual time. */
export const turnCost = (name: string | undefined, weights: Weights): number => {
  const { byName, others } = costsOf(weights)
  return (name === undefined ? undefined : byName.get(name)) ?? others
}

interface Costs {
  readonly byName: ReadonlyMap<string, number>
  readonly others: number
}

/** Computed once for each setting of the weights. A claim asks for each of its tasks, and a look-up of an unknown name in an object is slow. */
const costsOf = (weights: Weights): Costs => {
  const known = knownCosts.get(weights)
  if (known !== undefined) return known
  const { default: others = 1, ...named } = weights
  const costs = { byName: new Map(Object.entries(named).map(([name, weight]) => [name, costOf(weight)])), others: costOf(others) }
  knownCosts.set(weights, costs)
  return costs
}
const knownCosts = new WeakMap<Weights, Costs>()

const costOf = (weight: number): number => Math.max(1, Math.round(turnUnit / weight))

export type ShareEntry = readonly [tenant: string | null, turn: number, lastToken: number]

export class FairShare {
  /** Tenants with tasks, and tenants without tasks that may come back ahead of the others. */
  readonly byTenant = new Map<string | undefined, TenantShare>()
  /** The tenants without tasks, by the token of their last lease. */
  private readonly idle = new SortedList<TenantShare>((share) => share.lastToken, byName)

  constructor(
    private readonly head: Readonly<Head>,
    private readonly touchHead: () => Head,
    private readonly undoLog: UndoLog,
  ) {}

  /** The share of this tenant. The caller adds a task to it. */
  of(name: string | undefined): TenantShare {
    const known = this.byTenant.get(name)
    if (known !== undefined) return known
    const share: TenantShare = { savedFor: 0, name, turn: 0, lastToken: 0, groups: undefined, turns: noTurns }
    this.byTenant.set(name, share)
    return share
  }

  /** All groups with tasks. */
  *groups(): Generator<Group, void> {
    for (const { groups } of this.byTenant.values()) yield* groupsIn(groups)
  }

  /** Called when the tenant gets tasks in one more group. */
  join(group: Group): void {
    const { share } = group
    const isFirst = share.groups === undefined
    share.groups = withGroup(share.groups, group)
    if (!isFirst) return
    this.byTenant.set(share.name, share)
    if (this.idle.remove(share)) this.noteUndo(() => this.keepIdle(share))
  }

  /** Called when the tenant has no more tasks in a group. */
  part(group: Group): void {
    const { share } = group
    share.groups = withoutGroup(share.groups, group)
    if (share.groups !== undefined) return
    // When a first task is undone, the undo of `join` restores what the tenant was before.
    if (this.isAhead(share) && !this.undoLog.isUndoing) this.idle.add(share)
    else this.byTenant.delete(share.name)
  }

  /** Called when the tenant has something to take again. */
  comeBack(share: TenantShare): void {
    if (!this.isAhead(share)) this.setTurn(share, this.head.turn, share.lastToken)
  }

  /** Charges the tenant for a lease. A queue without tenants counts nothing. */
  charge(share: TenantShare, token: number, weights: Weights): void {
    if (!this.head.hasTenants) return
    const head = this.touchHead()
    head.turn = Math.max(head.turn, share.turn)
    this.setTurn(share, share.turn + turnCost(share.name, weights), token)
    for (let first = this.idle.first(); first !== undefined && !this.isRecent(first); first = this.idle.first()) this.forget(first)
    if (head.turn > turnMax) this.countAnew(head)
  }

  /** All shares whose turn is not 0, for a snapshot. Not sorted: sorting a million names would stop the queue for seconds. */
  entries(): ReadonlyArray<ShareEntry> {
    const shares = [...this.byTenant.values()].filter(({ turn }) => turn > 0)
    return shares.map(({ name = null, turn, lastToken }) => [name, turn, lastToken])
  }

  /** Restores the turns of a snapshot. Its tasks must be restored before. */
  restore(entries: ReadonlyArray<ShareEntry>): void {
    for (const share of this.byTenant.values()) if (share.turn !== 0) this.setTurn(share, 0, 0)
    for (const [name, turn, lastToken] of entries) {
      const share = this.of(name ?? undefined)
      this.setTurn(share, turn, lastToken)
      if (share.groups === undefined) this.idle.add(share)
    }
  }

  private isAhead(share: TenantShare): boolean {
    return share.turn > this.head.turn && this.isRecent(share)
  }

  private isRecent({ lastToken }: TenantShare): boolean {
    return lastToken > this.head.lastToken - debtLeases
  }

  private setTurn(share: TenantShare, turn: number, lastToken: number): void {
    if (!this.undoLog.isUndoing && this.undoLog.mustSave(share)) {
      const { turn: turnBefore, lastToken: tokenBefore } = share
      this.undoLog.note({ undo: () => this.moveTo(share, turnBefore, tokenBefore) })
    }
    this.moveTo(share, turn, lastToken)
  }

  private moveTo(share: TenantShare, turn: number, lastToken: number): void {
    const isIdle = share.groups === undefined && this.idle.remove(share)
    for (const place of share.turns) place.shape.turns.remove(place)
    share.turn = turn
    share.lastToken = lastToken
    for (const place of share.turns) place.shape.turns.add(place)
    if (isIdle) this.idle.add(share)
  }

  private forget(share: TenantShare): void {
    this.idle.remove(share)
    this.byTenant.delete(share.name)
    this.noteUndo(() => this.keepIdle(share))
  }

  private keepIdle(share: TenantShare): void {
    this.byTenant.set(share.name, share)
    this.idle.add(share)
  }

  private noteUndo(undo: () => void): void {
    if (this.undoLog.isRecording && !this.undoLog.isUndoing) this.undoLog.note({ undo })
  }

  private countAnew(head: Head): void {
    for (const share of this.byTenant.values()) this.setTurn(share, Math.max(0, share.turn - head.turn), share.lastToken)
    head.turn = 0
  }
}
const noTurns: ReadonlyArray<never> = []
