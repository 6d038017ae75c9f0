/**
 * Limits on how much runs at once and how often it starts (INV-23). Each is for a concurrency key, a type or a tenant. `*`, `type:*` and `tenant:*`
 * hold for each key, type or tenant that has no limit of its own.
 */
import * as t from 'io-ts'
import { between, integer } from './scalars.js'

/** At most `starts` leases in any period of `perSeconds`. */
export const Rate = t.exact(t.type({ starts: integer(1, 10_000), perSeconds: between(0.001, 86_400) }), 'rate')
export type Rate = t.TypeOf<typeof Rate>

/** The largest number of live leases. 0: nothing starts. */
export const Concurrency = integer(0, 1_000_000)

export interface Limit {
  readonly concurrency?: number
  readonly rate?: Rate
}

/** The largest number of limits in a queue. */
export const limitsMax = 10_000

const [ofType, ofTenant] = ['type:', 'tenant:'] as const
export const typeLimit = (type: string): string => ofType + type
export const tenantLimit = (tenant: string): string => ofTenant + tenant

/** The key of the limit that holds if this one is not set. */
export const defaultOf = (key: string): string => (key.startsWith(ofType) ? `${ofType}*` : key.startsWith(ofTenant) ? `${ofTenant}*` : '*')
export const isDefault = (key: string): boolean => key === defaultOf(key)
/** Whether the limit is for one concurrency key, or for all of them. */
export const isOfKey = (key: string): boolean => defaultOf(key) === '*'

export const isOfTenant = (key: string): boolean => key.startsWith(ofTenant)

/** The key in words. */
export const nameOf = (key: string): string =>
  key.startsWith(ofType) ? `type ${key.slice(ofType.length)}` : key.startsWith(ofTenant) ? `tenant ${key.slice(ofTenant.length)}` : `concurrency key ${key}`

export const isSameRate = (a: Rate | undefined, b: Rate | undefined): boolean => a?.starts === b?.starts && a?.perSeconds === b?.perSeconds
export const isSameLimit = (a: Limit | undefined, b: Limit | undefined): boolean =>
  (a === undefined) === (b === undefined) && a?.concurrency === b?.concurrency && isSameRate(a?.rate, b?.rate)
