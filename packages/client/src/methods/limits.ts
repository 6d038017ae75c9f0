/** Limits on how much runs at once and how often it starts. */
import type { CallOptions } from '../options.js'

export interface Limit {
  /** The largest number of live leases. 0: nothing starts. */
  readonly concurrency?: number | undefined
  /** The largest number of starts in any period of `perSeconds` seconds. */
  readonly rate?: { readonly starts: number; readonly perSeconds: number } | undefined
}

export interface LimitView extends Limit {
  readonly key: string
  /** Number of live leases that it counts. Missing in limits for each key, type or tenant. */
  readonly live?: number
  /** When its rate admits a start again (ISO 8601). Missing if it admits one now. */
  readonly shutUntil?: string
}

/**
 * Limits by key: a concurrency key, `type:TYPE` or `tenant:TENANT`. `*`, `type:*` and `tenant:*` hold for each key, type or tenant that has no limit
 * of its own.
 */
export interface Limits {
  readonly list: (options?: CallOptions) => Promise<ReadonlyArray<LimitView>>
  readonly get: (key: string, options?: CallOptions) => Promise<LimitView>
  /** Sets the limit, replacing a former one. At least one of `concurrency` and `rate` is required. */
  readonly set: (key: string, limit: Limit, options?: CallOptions) => Promise<LimitView>
  readonly remove: (key: string, options?: CallOptions) => Promise<void>
}
