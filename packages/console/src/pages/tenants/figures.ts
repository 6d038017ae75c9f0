/** The figures of each tenant, from two reports, the depth and the settings. */
import type { Depth } from '@daybook/client'

export interface TenantFigures {
  /** `undefined`: the tasks without a tenant. */
  readonly name: string | undefined
  readonly weight: number
  readonly claimed: number
  readonly enqueued: number
  /** Number of ready tasks. */
  readonly waiting: number
  /** Shares among the tenants that are shown, from 0 to 1. */
  readonly claimedShare: number
  readonly weightShare: number
  readonly demandShare: number
  /** The part that it got of the claims due to it while it had ready tasks; `undefined` if it was never compared with another tenant. */
  readonly ratio: number | undefined
}

type Rows = ReadonlyArray<Readonly<Record<string, string | number | null>>>

/** Number of ready tasks of each tenant; `null`: of those without a tenant, which the depth does not count by themselves. */
const readyOf = ({ byStatus, byTenant }: Pick<Depth, 'byStatus' | 'byTenant'>): ReadonlyMap<string | null, number> => {
  const ofTenants = Object.values(byTenant).reduce((sum, count) => sum + count, 0)
  return new Map<string | null, number>([...Object.entries(byTenant), [null, Math.max(0, byStatus.pending + byStatus.queued - ofTenants)]])
}

/** How many tenants the report adds up in one row, because there are more than it tells one by one. */
export const othersIn = (rows: Rows): number => Math.max(0, ...rows.map(({ others }) => Number(others ?? 0)))

/** `depth`: `undefined` while it is not known. */
export const tenantsOf = (fairness: Rows, throughput: Rows, depth: Pick<Depth, 'byStatus' | 'byTenant'> | undefined, weights: Readonly<Record<string, number>>): ReadonlyArray<TenantFigures> => {
  const ready = depth === undefined ? new Map<string | null, number>() : readyOf(depth)
  // The row of others has no tenant either, and is not that of the tasks without one.
  const isOne = ({ tenant, others }: Rows[number]): boolean => tenant !== undefined && others === undefined
  const rowOf = (rows: Rows, name: string | null) => rows.find((row) => isOne(row) && row['tenant'] === name)
  const names = [...new Set<string | null>([...fairness.filter(isOne), ...throughput.filter(isOne)].map(({ tenant }) => tenant as string | null).concat([...ready].filter(([name, count]) => name !== null || count > 0).map(([name]) => name)))]
  const all = names.map((name) => ({
    name: name ?? undefined,
    // A tenant may have the name of something that every object has, such as `constructor`.
    weight: (name !== null && Object.hasOwn(weights, name) ? weights[name] : weights['default']) ?? 1,
    claimed: Number(rowOf(fairness, name)?.['claimed'] ?? 0),
    enqueued: Number(rowOf(throughput, name)?.['enqueued'] ?? 0),
    waiting: ready.get(name) ?? 0,
    ratio: typeof rowOf(fairness, name)?.['ratio'] === 'number' ? Number(rowOf(fairness, name)?.['ratio']) : undefined,
  }))
  const sum = (of: 'weight' | 'claimed' | 'enqueued'): number => Math.max(all.reduce((total, each) => total + each[of], 0), Number.MIN_VALUE)
  const [weight, claimed, enqueued] = [sum('weight'), sum('claimed'), sum('enqueued')]
  return all
    .map((each) => ({ ...each, claimedShare: each.claimed / claimed, weightShare: each.weight / weight, demandShare: each.enqueued / enqueued }))
    .sort((a, b) => b.claimed - a.claimed || ((a.name ?? '') < (b.name ?? '') ? -1 : 1))
}
