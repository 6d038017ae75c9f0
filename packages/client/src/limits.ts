/** Limits of how much runs at once, and how often it starts. */
import type { CallOptions } from './options.js'

export interface Limit {
  /** So many live leases at once; 0: nothing starts. */
  readonly concurrency?: number
  /** So many starts in any time of this length. */
  readonly rate?: { readonly starts: number; readonly perSeconds: number }
}

export interface LimitView extends Limit {
  readonly key: string
  /** Live leases under it. Not of a limit of each key, type or tenant. */
  readonly live?: number
  /** When its rate admits a start again, if it does not now. */
  readonly shutUntil?: string
}

/** By key: a concurrency key, `type:TYPE` or `tenant:TENANT`. `*`, `type:*` and `tenant:*` hold for each that has none of its own. */
export interface Limits {
  readonly list: (options?: CallOptions) => Promise<ReadonlyArray<LimitView>>
  readonly get: (key: string, options?: CallOptions) => Promise<LimitView>
  /** Replaces the limit, if there is one. At least one of `concurrency` and `rate` is needed. */
  readonly set: (key: string, limit: Limit, options?: CallOptions) => Promise<LimitView>
  readonly remove: (key: string, options?: CallOptions) => Promise<void>
}
