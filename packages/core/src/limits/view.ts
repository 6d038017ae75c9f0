/** A limit as it is shown. */
import type { Tables } from '../state/tables.js'
import { isDefault, type Limit } from '../model/limit.js'

export interface LimitView extends Limit {
  /** A concurrency key, `type:TYPE` or `tenant:TENANT`. `*`, `type:*` and `tenant:*` hold for each key, type or tenant that has no limit of its own. */
  readonly key: string
  /** Number of live leases that it counts. Missing in the limits for all. */
  readonly live?: number
  /** When its rate admits a start again, in milliseconds since 1970. Missing if it admits one now. */
  readonly shutUntil?: number
}

export const limitView = ({ limits }: Tables, key: string, limit: Limit): LimitView => {
  if (isDefault(key)) return { key, ...limit }
  const { live = 0, shutUntil = 0 } = limits.meters.get(key) ?? {}
  return { key, ...limit, live, ...(shutUntil > 0 ? { shutUntil } : {}) }
}
