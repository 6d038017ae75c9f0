/**
 * Whether tenants that had work all the time got claims by their weights.
 *
 * In each window of five minutes and for each pool of agents, the tenants are compared that had ready tasks for this pool throughout. Of the claims
 * that they got together, each was due the share of its weight. A tenant that ran out of tasks is not compared: it got all that it asked for. Tasks
 * of types that a breaker holds back do not count as ready.
 */
export interface TenantShare {
  readonly tenant: string | null
  readonly weight: number
  /** In the windows in which the tenant was compared: the claims that were due to it, and the claims that it got. */
  readonly due: number
  readonly got: number
}

export const windowMs = 300_000

class PoolWindow {
  /** By tenant: ready tasks, claims in this window, and whether it was out of tasks during it. */
  private readonly ready: Float64Array
  private readonly claims: Float64Array
  private readonly wasOut: Uint8Array

  constructor(tenants: number) {
    this.ready = new Float64Array(tenants)
    this.claims = new Float64Array(tenants)
    this.wasOut = new Uint8Array(tenants).fill(1)
  }

  change(tenant: number, by: number): void {
    const left = (this.ready[tenant] as number) + by
    this.ready[tenant] = left
    if (left === 0) this.wasOut[tenant] = 1
  }

  claimed(tenant: number): void {
    this.claims[tenant] = (this.claims[tenant] as number) + 1
  }

  /** Ends the window and begins the next. Returns the tenants to be compared, with their claims. */
  close(): ReadonlyArray<{ readonly tenant: number; readonly claims: number }> {
    const compared: Array<{ tenant: number; claims: number }> = []
    for (const [tenant, claims] of this.claims.entries()) {
      if (this.wasOut[tenant] === 0) compared.push({ tenant, claims })
      this.wasOut[tenant] = this.ready[tenant] === 0 ? 1 : 0
    }
    this.claims.fill(0)
    return compared
  }
}

export class Fairness {
  private readonly windows: ReadonlyArray<PoolWindow>
  private readonly due: Float64Array
  private readonly got: Float64Array
  /** Ready tasks by kind and tenant. */
  private readonly ready: ReadonlyArray<Float64Array>
  private windowEnd: number

  /** `poolsOf`: the pools that may take tasks of each kind. `pools`: the tenant for which each claims; `undefined` for all. */
  constructor(
    private readonly tenants: ReadonlyArray<{ readonly tenant: string | null; readonly weight: number }>,
    private readonly poolsOf: ReadonlyArray<ReadonlyArray<number>>,
    private readonly pools: ReadonlyArray<string | undefined>,
    from: number,
  ) {
    this.due = new Float64Array(tenants.length)
    this.got = new Float64Array(tenants.length)
    this.ready = poolsOf.map(() => new Float64Array(tenants.length))
    this.windows = pools.map(() => new PoolWindow(tenants.length))
    this.windowEnd = from + windowMs
  }

  /** Changes the number of ready tasks of this kind and tenant. `isHeld`: a breaker holds the type back. */
  change(at: number, kind: number, tenant: number, by: number, isHeld: boolean): void {
    this.passTo(at)
    const ready = this.ready[kind] as Float64Array
    ready[tenant] = (ready[tenant] as number) + by
    if (!isHeld) this.count(kind, tenant, by)
  }

  /** From now on a breaker holds the kind back, or no longer does. */
  hold(at: number, kind: number, isHeld: boolean): void {
    this.passTo(at)
    for (const [tenant, ready] of (this.ready[kind] as Float64Array).entries()) if (ready > 0) this.count(kind, tenant, isHeld ? -ready : ready)
  }

  claimed(at: number, pool: number, tenant: number): void {
    this.passTo(at)
    this.windows[pool]?.claimed(tenant)
  }

  /** `until`: the end. A window that it cuts short does not count. */
  shares(until: number): ReadonlyArray<TenantShare> {
    this.passTo(until)
    return this.tenants.map((one, i) => ({ ...one, due: this.due[i] as number, got: this.got[i] as number }))
  }

  private count(kind: number, tenant: number, by: number): void {
    for (const pool of this.poolsOf[kind] as ReadonlyArray<number>) {
      const only = this.pools[pool]
      if (only === undefined || only === this.tenants[tenant]?.tenant) this.windows[pool]?.change(tenant, by)
    }
  }

  private passTo(at: number): void {
    for (; this.windowEnd <= at; this.windowEnd += windowMs) for (const window of this.windows) this.compare(window.close())
  }

  private compare(compared: ReadonlyArray<{ readonly tenant: number; readonly claims: number }>): void {
    if (compared.length < 2) return
    const weightOf = (tenant: number): number => this.tenants[tenant]?.weight ?? 1
    const claims = compared.reduce((sum, one) => sum + one.claims, 0)
    const weights = compared.reduce((sum, { tenant }) => sum + weightOf(tenant), 0)
    for (const { tenant, claims: got } of compared) {
      this.due[tenant] = (this.due[tenant] as number) + (claims * weightOf(tenant)) / weights
      this.got[tenant] = (this.got[tenant] as number) + got
    }
  }
}

/**
 * Jain's index of fairness over the part of its due that each tenant got: 1 if all got the same part, 1/n if one got everything. `null` if fewer than
 * two were compared.
 */
export const jainIndex = (shares: ReadonlyArray<Pick<TenantShare, 'due' | 'got'>>): number | null => {
  const parts = shares.filter(({ due }) => due > 0).map(({ due, got }) => got / due)
  if (parts.length < 2) return null
  const squares = parts.reduce((sum, part) => sum + part * part, 0)
  return squares === 0 ? null : parts.reduce((sum, part) => sum + part, 0) ** 2 / (parts.length * squares)
}
