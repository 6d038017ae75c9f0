/** The sizes of a state and its indexes, which INV-22 limits. */
import { isFinal, statuses } from '@daybook/core'
import { QueueState, readyIn, type Tables } from '@daybook/core/testing'

export interface Sizes {
  readonly live: number
  /** Finished tasks that are kept until their retention is over. */
  readonly retained: number
  /** Number of records, which only unfinished tasks have; and bytes of the arrays that hold the finished ones. */
  readonly records: number
  readonly finishedBytes: number
  readonly groups: number
  readonly emptyGroups: number
  readonly kinds: number
  /** Kinds of groups without a group. */
  readonly emptyKinds: number
  readonly tenants: number
  /** Pools of one type in which tenants take turns, those of types without tasks, and the accounts in them. */
  readonly pools: number
  readonly emptyPools: number
  readonly accounts: number
  /** Number of placements of tasks with a deadline that a rollback would look at. */
  readonly placements: number
  /** Kept shapes of claims. */
  readonly shapes: number
  readonly breakers: number
  /** Registered agents, including those whose registration has ended. */
  readonly agents: number
  readonly chains: number
  /** Batches that have ended, which are kept until their retention is over. */
  readonly endedBatches: number
  readonly approvals: number
  readonly meters: number
  /** Phases and kinds of discovery whose failed attempts are counted. */
  readonly failures: number
  /** Slots of the index by number, in use or not. */
  readonly numberSlots: number
  /** Entries of all indexes over tasks, by index. */
  readonly entries: Readonly<Record<string, number>>
  /** Evicted tasks to which some record still refers. */
  readonly ghosts: number
}

/** How many unfinished tasks of a snapshot have no record yet. */
export const rowsIn = (state: QueueState): number => QueueState.tablesOf(state).unfinished.rows

/** The limits that stand apart: see `limits/section.ts`. */
export const limitsApart = (state: QueueState): ReadonlyArray<string> =>
  [...QueueState.tablesOf(state).limits.meters.values()].flatMap(({ key, apart }) => (apart === undefined ? [] : [key]))

export const sizesOf = (state: QueueState): Sizes => {
  const tables = QueueState.tablesOf(state)
  const tasks = [...tables.byNumber.values()]
  const groups = [...tables.shares.groups()]
  const kinds = [...tables.kinds.all()]
  const pools = tables.shares.pools().filter(({ type }) => type !== undefined)
  const retained = tasks.filter((task) => isFinal(task.status)).length
  const sum = (sets: Iterable<{ readonly size: number }>): number => [...sets].reduce((total, set) => total + set.size, 0)
  const pointedTo = [
    ...tasks.flatMap((task) => task.dependents),
    ...[...tables.breakers.values()].flatMap(({ probe }) => (probe === null ? [] : [probe])),
  ]
  return {
    live: tasks.length - retained,
    retained,
    records: tables.unfinished.size,
    finishedBytes: tables.finished.bytes,
    groups: groups.length,
    emptyGroups: groups.filter(({ size }) => size === 0).length,
    kinds: kinds.length,
    emptyKinds: kinds.filter(({ size }) => size === 0).length,
    tenants: tables.shares.byTenant.size,
    pools: pools.length,
    emptyPools: pools.filter(({ byTenant }) => [...byTenant.values()].every(({ groupCount }) => groupCount === 0)).length,
    accounts: sum(pools.map(({ byTenant }) => byTenant)),
    placements: tables.ready.places.kept,
    shapes: tables.ready.shapesKept,
    breakers: tables.breakers.size,
    agents: tables.agents.size,
    chains: tables.chains.size,
    endedBatches: tables.batches.endedCount,
    approvals: tables.approvals.size,
    meters: tables.limits.meters.size,
    failures: tables.alerts.failures.size,
    numberSlots: tables.byNumber.capacity,
    entries: {
      byId: tables.byId.size,
      byNumber: tables.byNumber.size,
      byKey: tables.byKey.size,
      byTicket: sum(tables.byTicket.values()),
      byRoot: sum(tables.byRoot.values()),
      leases: sum(tables.leases.values()),
      timers: tables.delays.size + tables.leaseEnds.size,
      finished: tables.finished.size,
      lines: sum(tables.lines.values()),
      lists: listedIn(tables),
      ready: sum(groups.map((group) => ({ size: readyIn(group).length }))),
    },
    ghosts: pointedTo.filter((task) => tables.byId.get(task.id) !== task).length,
  }
}

/** A loop, for speed: there are some hundred lists. */
const listedIn = ({ lists }: Tables): number => {
  let listed = 0
  for (const byStatus of lists.values()) for (const status of statuses) for (const { size } of byStatus[status]) listed += size
  return listed
}
