/** The figures of a simulation. Times are in seconds, shares from 0 to 1. */
import type { TenantShare } from './fairness.js'

/** Waits from the arrival to the first claim. A task that never began counts with its wait so far, so such values are lower bounds. */
export interface Waits {
  readonly tasks: number
  /** How many of these tasks never began. */
  readonly notStarted: number
  readonly mean: number
  readonly p50: number
  readonly p95: number
  readonly p99: number
  readonly max: number
}

/** About the tasks whose deadline was within the simulation, or that were finished. */
export interface Deadlines {
  readonly decided: number
  readonly met: number
}

export interface GroupFigures {
  readonly waits: Waits
  readonly deadlines: Deadlines
  readonly completed: number
  readonly deadLetters: number
}

export interface PoolFigures {
  readonly name: string
  readonly agents: number
  /** The share of the time that agents worked, of the time in which they could, on as many tasks as they could. `null` if they never could. */
  readonly utilisation: number | null
  readonly crashes: number
}

export interface Figures {
  readonly arrived: number
  readonly completed: number
  readonly deadLetters: Readonly<Record<string, number>>
  /** Tasks that at the end were neither completed nor dead letters: they waited, or an agent had them. */
  readonly waitingAtEnd: number
  readonly runningAtEnd: number
  readonly attempts: { readonly started: number; readonly failed: number; readonly leasesExpired: number; readonly rateLimited: number; readonly retries: number }
  readonly all: GroupFigures
  readonly byPriority: ReadonlyArray<GroupFigures & { readonly priority: number }>
  readonly byTenant: ReadonlyArray<GroupFigures & { readonly tenant: string | null }>
  /** `jain`: see `fairness.ts`. */
  readonly fairness: { readonly tenants: ReadonlyArray<TenantShare>; readonly jain: number | null }
  readonly utilisation: number | null
  readonly pools: ReadonlyArray<PoolFigures>
  readonly breakers: ReadonlyArray<{ readonly type: string; readonly opened: number; readonly heldSeconds: number }>
  readonly starvation: { readonly limit: number; readonly longestWait: number; readonly starved: number }
  /** Means over pieces of time of equal length. */
  readonly series: {
    readonly pieceSeconds: number
    /** Tasks that wait for an agent or for a retry. */
    readonly waitingByPriority: ReadonlyArray<{ readonly priority: number; readonly tasks: ReadonlyArray<number> }>
    readonly waitingByTenant: ReadonlyArray<{ readonly tenant: string | null; readonly tasks: ReadonlyArray<number> }>
    /** Tasks that agents work on, and how many they could work on. */
    readonly busy: ReadonlyArray<number>
    readonly places: ReadonlyArray<number>
  }
}

/** The percentile by nearest rank: the least of the sorted values that at least this share of them does not exceed. */
export const percentile = (sorted: ArrayLike<number>, share: number): number =>
  sorted.length === 0 ? 0 : (sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] as number)

/** `waits` in seconds. */
export const waitsOf = (waits: ReadonlyArray<number>, notStarted: number): Waits => {
  const sorted = Float64Array.from(waits).sort()
  return {
    tasks: sorted.length,
    notStarted,
    mean: sorted.length === 0 ? 0 : sorted.reduce((sum, wait) => sum + wait, 0) / sorted.length,
    p50: percentile(sorted, 0.5),
    p95: percentile(sorted, 0.95),
    p99: percentile(sorted, 0.99),
    max: percentile(sorted, 1),
  }
}
