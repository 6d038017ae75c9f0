/**
 * Tenants' fair share (TQM-ASSIGN-004, INV-12): start-time fair queueing (Goyal, Vin, Cheng 1996) over leases granted. Each tenant has a virtual
 * time, its *turn*, which grows by 1/weight with each lease. The tenant with the least turn is served next.
 *
 * Tenants are compared within a *pool*: the tasks of one type, for claims that name one type, and all tasks of the queue, for all other claims. A lease
 * counts in both. So a fleet of workers for one type shares its leases fairly, whatever leases other fleets grant.
 *
 * A pool has a virtual time, too: that of its last lease. A tenant that has a ready task again, or was kept from its tasks by a breaker or a limit,
 * is charged from there on, so it has saved no credit. If it was ahead of that time, it stays ahead, unless {@link debtLeases} leases of the pool were
 * granted since its last, or no tenant had a ready task of the pool in between. Leases of other pools must not count: if they did, a tenant with one
 * task at a time would always come before all others in a pool where leases are rare.
 */
import type { Group } from '../records/group.js'
import { SortedList } from '../structures/sorted-list.js'
import type { Account, Head, TenantShare } from '../records/records.js'
import type { Undoable, UndoLog } from '../structures/undo-log.js'
import { byName } from './turn-list.js'
import { groupsIn, withGroup, withoutGroup } from './tenant-groups.js'

/** The cost of a lease at weight 1, in virtual time. Divisible by 1 to 10, so that turns are whole numbers for the usual weights. */
export const turnUnit = 5_040_000
/** A tenant that comes back is charged for its last lease until this many later leases of the pool were granted. This bounds what is kept of tenants without tasks. */
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

/** Tasks whose leases the tenants share: those of one type, or all tasks of the queue. */
export interface Pool<A extends Account = Account> extends Undoable {
  /** `undefined`: all types. */
  readonly type: string | undefined
  /** The virtual time of the last lease: the turn of its tenant before that lease. */
  turn: number
  /** Number of its leases, and {@link debtLeases} more for each time that there was no ready task: then all debts are forgiven. */
  leases: number
  /** Number of tenants with ready tasks. */
  readyTenants: number
  /** Tenants with tasks, and tenants without tasks that may come back ahead of the others. */
  readonly byTenant: Map<string | undefined, A>
  /** The accounts without tasks, by their last lease. */
  readonly idle: SortedList<Account>
}

const newPool = <A extends Account>(type?: string): Pool<A> => ({
  savedFor: 0,
  type,
  turn: 0,
  leases: 0,
  readyTenants: 0,
  byTenant: new Map(),
  idle: new SortedList<Account>(({ lastLease }) => lastLease, byName),
})

/** Called when one more of the tenant's groups has ready tasks, or one less. */
export const countReady = ({ share, account }: Group, by: 1 | -1): void => {
  countIn(share, by)
  countIn(account, by)
}
const countIn = (account: Account, by: 1 | -1): void => {
  const before = account.readyGroups
  account.readyGroups += by
  if (before === 0 || account.readyGroups === 0) account.pool.readyTenants += by
}

type ShareEntry = readonly [tenant: string | null, turn: number, lastLease: number]
export type PoolEntry = readonly [type: string | null, turn: number, leases: number, shares: ReadonlyArray<ShareEntry>]

export class FairShare {
  private readonly all = newPool<TenantShare>()
  /** The pools of the types with tasks, and of those without tasks that have tenants that may come back ahead of the others. */
  private readonly byType = new Map<string, Pool>()

  constructor(
    private readonly head: Readonly<Pick<Head, 'hasTenants'>>,
    private readonly undoLog: UndoLog,
  ) {}

  get byTenant(): ReadonlyMap<string | undefined, TenantShare> {
    return this.all.byTenant
  }

  /** The tenant's account for all tasks. The caller adds a group to it. */
  of(name: string | undefined): TenantShare {
    const { byTenant } = this.all
    const known = byTenant.get(name)
    if (known !== undefined) return known
    const share = newShare(name, this.all)
    byTenant.set(name, share)
    return share
  }

  /** The tenant's account for the tasks of a type. The caller adds a group to it. */
  ofType(name: string | undefined, type: string): Account {
    let pool = this.byType.get(type)
    if (pool === undefined) this.byType.set(type, (pool = newPool(type)))
    const known = pool.byTenant.get(name)
    if (known !== undefined) return known
    const account = newAccount(name, pool)
    pool.byTenant.set(name, account)
    return account
  }

  pools(): ReadonlyArray<Pool> {
    return [this.all, ...this.byType.values()]
  }

  /** All groups with tasks. */
  *groups(): Generator<Group, void> {
    for (const { groups } of this.byTenant.values()) yield* groupsIn(groups)
  }

  /** Called when the tenant gets tasks in one more group. */
  join(group: Group): void {
    const { share, account } = group
    share.groups = withGroup(share.groups, group)
    this.enter(share)
    this.enter(account)
  }

  /** Called when the tenant has no more tasks in a group. */
  part(group: Group): void {
    const { share, account } = group
    share.groups = withoutGroup(share.groups, group)
    this.leave(share)
    this.leave(account)
  }

  /** The accounts of the group without ready tasks: see {@link comeBack}. */
  withoutReady({ share, account }: Group): ReadonlyArray<Account> {
    if (share.readyGroups === 0) return [share, account]
    return account.readyGroups === 0 ? [account] : none
  }

  /** Called when accounts that had no ready tasks may have some. */
  comeBack(accounts: ReadonlyArray<Account>): void {
    if (!this.head.hasTenants) return
    for (const account of accounts) {
      const { pool, turn, readyGroups, lastLease } = account
      if (readyGroups === 0) continue
      // There was no ready task in the pool until now.
      if (pool.readyTenants === 1) this.setPool(pool, pool.turn, pool.leases + debtLeases)
      if (turn !== pool.turn && !this.isAhead(account)) this.setTurn(account, pool.turn, lastLease)
    }
  }

  /** Charges the tenant for a lease. A queue without tenants counts nothing. */
  charge({ share, account }: Group, weights: Weights): void {
    if (!this.head.hasTenants) return
    const cost = turnCost(share.name, weights)
    this.chargeTo(share, cost)
    this.chargeTo(account, cost)
  }

  /** For a snapshot: the pools with all accounts that ever had a lease, or a turn. Not sorted: sorting a million names would stop the queue for seconds. */
  entries(): ReadonlyArray<PoolEntry> {
    return this.pools().flatMap(({ type = null, turn, leases, byTenant }): ReadonlyArray<PoolEntry> => {
      const counted = [...byTenant.values()].filter((account) => account.turn > 0 || account.lastLease > 0)
      return leases === 0 ? none : [[type, turn, leases, counted.map((account) => [account.name ?? null, account.turn, account.lastLease])]]
    })
  }

  /** Restores the turns of a snapshot. Its tasks must be restored before. */
  restore(entries: ReadonlyArray<PoolEntry>): void {
    for (const [type, turn, leases, shares] of entries) {
      for (const [name, ...counted] of shares) {
        const account = type === null ? this.of(name ?? undefined) : this.ofType(name ?? undefined, type)
        this.setTurn(account, ...counted)
        if (account.groupCount === 0) account.pool.idle.add(account)
      }
      const pool = type === null ? this.all : this.byType.get(type)
      if (pool !== undefined) this.setPool(pool, turn, leases)
    }
  }

  private enter(account: Account): void {
    if (account.groupCount++ > 0) return
    this.keep(account)
    if (account.pool.idle.remove(account)) this.undoLog.note(() => this.keepIdle(account))
  }

  private leave(account: Account): void {
    if (--account.groupCount > 0) return
    // When a first task is undone, the undo of `enter` restores what the tenant was before.
    if (this.undoLog.isUndoing) return this.drop(account)
    if (this.isAhead(account)) account.pool.idle.add(account)
    else this.drop(account)
    this.forgive(account.pool)
  }

  /** A tenant that was kept from its tasks for a while may be behind the pool. It is charged as if it were not. */
  private chargeTo(account: Account, cost: number): void {
    const { pool } = account
    const start = Math.max(pool.turn, account.turn)
    this.setPool(pool, start, pool.leases + 1)
    this.setTurn(account, start + cost, pool.leases)
    this.forgive(pool)
    if (start > turnMax) this.countAnew(pool)
  }

  private isAhead(account: Account): boolean {
    return account.turn > account.pool.turn && this.isRemembered(account)
  }

  private isRemembered({ pool, lastLease }: Account): boolean {
    return pool.readyTenants > 0 && lastLease > pool.leases - debtLeases
  }

  private setPool(pool: Pool, turn: number, leases: number): void {
    if (this.undoLog.mustSave(pool)) {
      const before = { turn: pool.turn, leases: pool.leases }
      this.undoLog.note(() => Object.assign(pool, before))
    }
    pool.turn = turn
    pool.leases = leases
  }

  private setTurn(account: Account, turn: number, lastLease: number): void {
    if (this.undoLog.mustSave(account)) {
      const { turn: turnBefore, lastLease: leaseBefore } = account
      this.undoLog.note(() => this.moveTo(account, turnBefore, leaseBefore))
    }
    this.moveTo(account, turn, lastLease)
  }

  private moveTo(account: Account, turn: number, lastLease: number): void {
    const { idle } = account.pool
    const isIdle = account.groupCount === 0 && idle.remove(account)
    for (const place of account.turns) place.list.turns.remove(place)
    account.turn = turn
    account.lastLease = lastLease
    for (const place of account.turns) place.list.turns.add(place)
    if (isIdle) idle.add(account)
  }

  /** Drops the accounts without tasks whose debts are forgiven. */
  private forgive({ idle }: Pool): void {
    for (let first = idle.first(); first !== undefined && !this.isRemembered(first); first = idle.first()) {
      const account = first
      idle.remove(account)
      this.drop(account)
      this.undoLog.note(() => this.keepIdle(account))
    }
  }

  private keepIdle(account: Account): void {
    this.keep(account)
    account.pool.idle.add(account)
  }

  private keep(account: Account): void {
    const { pool } = account
    if (pool.type !== undefined) this.byType.set(pool.type, pool)
    pool.byTenant.set(account.name, account)
  }

  private drop({ pool, name }: Account): void {
    pool.byTenant.delete(name)
    if (pool.type !== undefined && pool.byTenant.size === 0) this.byType.delete(pool.type)
  }

  private countAnew(pool: Pool): void {
    for (const account of pool.byTenant.values()) this.setTurn(account, Math.max(0, account.turn - pool.turn), account.lastLease)
    this.setPool(pool, 0, pool.leases)
  }
}
const none: ReadonlyArray<never> = []
const noTurns: ReadonlyArray<never> = []

const newAccount = (name: string | undefined, pool: Pool): Account => ({
  savedFor: 0,
  name,
  pool,
  turn: 0,
  lastLease: 0,
  groupCount: 0,
  readyGroups: 0,
  turns: noTurns,
})
/** Not made of an account: a copy with one more field takes twice the memory, and a queue may have a million tenants. */
const newShare = (name: string | undefined, pool: Pool): TenantShare => ({
  savedFor: 0,
  name,
  pool,
  turn: 0,
  lastLease: 0,
  groupCount: 0,
  readyGroups: 0,
  turns: noTurns,
  groups: undefined,
})
