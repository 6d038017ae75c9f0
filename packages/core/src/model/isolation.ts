/**
 * Queues whose tenants know nothing of each other (`tenants: isolated`, ADR 65). Ids, keys and names that tasks are found by or share are stored with
 * the tenant's name in front: `acme:invoice-7`. So a name that one tenant uses does not affect another tenant.
 */
import * as t from 'io-ts'
import type { PreparedTask } from './commands.js'
import { invalid, type Rejection } from './rejections.js'
import type { Settings } from './settings.js'

/** The keys of other limits begin with `type:` or `tenant:`. */
const reserved: ReadonlyArray<string> = ['type', 'tenant']

/** A tenant of an isolated queue. Its name has no colon, so the prefixes of two tenants are never the same. */
export const TenantName = t.refinement(
  t.string,
  (name) => /^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$/.test(name) && !reserved.includes(name),
  `tenant: 1–32 of a–z A–Z 0–9 . _ -, other than ${reserved.join(' and ')}`,
)

interface Configured {
  readonly head: { readonly settings: Settings }
}

export const isIsolated = ({ head }: Configured): boolean => head.settings.tenants === 'isolated'

/** The name with the tenant's name in front. A name that already has this prefix stays as it is. */
export const under = (tenant: string, name: string): string => (isUnder(tenant, name) ? name : `${tenant}:${name}`)
export const isUnder = (tenant: string, name: string): boolean => name.startsWith(`${tenant}:`)

/** The tenant whose prefix the name has; `undefined` if it has none. */
const tenantOver = (name: string): string | undefined => {
  const tenant = name.slice(0, Math.max(0, name.indexOf(':')))
  return TenantName.is(tenant) ? tenant : undefined
}

/** The greatest length of a name. */
const nameMax = 128

const isTooLong = (tenant: string, name: string | undefined): boolean => name !== undefined && under(tenant, name).length > nameMax

/** The task as an isolated queue stores it: its keys, and an id that the producer did not give, have the tenant's prefix. In other queues, the task itself. */
export const isolated = <T extends PreparedTask>(task: T, tables: Configured): T => {
  const { tenant } = task
  if (!isIsolated(tables) || tenant === undefined) return task
  return {
    ...task,
    idempotencyKey: under(tenant, task.idempotencyKey),
    ...(task.isMadeId === true ? { id: under(tenant, task.id) } : {}),
    ...(task.orderingKey === undefined ? {} : { orderingKey: under(tenant, task.orderingKey) }),
    ...(task.concurrencyKey === undefined ? {} : { concurrencyKey: under(tenant, task.concurrencyKey) }),
  }
}

/** Why an isolated queue refuses the task; `undefined` if it does not. `path`: that of the task, ending with a dot. */
export const refusalOfIsolation = (task: PreparedTask, tables: Configured & { readonly queue: string }, path: string): Rejection | undefined => {
  if (!isIsolated(tables)) return undefined
  const { tenant, id, isMadeId } = task
  const refused = refusalOfTenant(tenant, tables.queue, path)
  if (refused !== undefined || tenant === undefined) return refused
  const over = isMadeId === true ? undefined : tenantOver(id)
  if (over !== undefined && over !== tenant) {
    return invalid([{ path: `${path}id`, message: `is one of tenant ${over}: begin it with ${tenant}: or leave it out` }])
  }
  return refusalOfLongNames(task, tenant, path)
}

/**
 * Why an isolated queue refuses a task that it would enqueue later: that of a schedule, or the callback of a batch. Names that are too long are refused
 * here, because the event of the task could not be read. The queue itself makes its id and key.
 */
export const refusalOfPlanned = (task: Named, tables: Configured & { readonly queue: string }, path: string): Rejection | undefined => {
  if (!isIsolated(tables)) return undefined
  const { tenant } = task
  return refusalOfTenant(tenant, tables.queue, path) ?? (tenant === undefined ? undefined : refusalOfLongNames(task, tenant, path))
}

/** The names that an isolated queue stores with the tenant's name in front. */
const prefixed = ['id', 'idempotencyKey', 'orderingKey', 'concurrencyKey'] as const
type Named = Partial<Pick<PreparedTask, 'tenant' | (typeof prefixed)[number]>>

const refusalOfLongNames = (task: Named, tenant: string, path: string): Rejection | undefined => {
  const name = prefixed.find((each) => isTooLong(tenant, task[each]))
  return name === undefined ? undefined : tooLong(`${path}${name}`, tenant)
}

/** Why this is no valid tenant of an isolated queue; `undefined` if it is. */
export const refusalOfTenant = (tenant: string | undefined, queue: string, path: string): Rejection | undefined => {
  if (TenantName.is(tenant)) return undefined
  return invalid([{ path: `${path}tenant`, message: `${tenant === undefined ? 'is required' : 'must be another'} in queue ${queue}, whose tenants are isolated: ${TenantName.name}` }])
}

/** Why the agent may not claim or register with this tenant. `undefined` in queues that are not isolated. */
export const refusalOfAgent = (agent: string, tenant: string | undefined, tables: Configured): Rejection | undefined => {
  const over = isIsolated(tables) ? tenantOver(agent) : undefined
  if (over === undefined || over === tenant) return undefined
  return invalid([{ path: 'tenant', message: `must be ${over}, because ${agent} is an agent of this tenant: claim for it alone, or take another name` }])
}

/** A callback's key as it is stored, or the refusal. */
export const isolatedCallback = (key: string, tenant: string | undefined, tables: Configured): string | Rejection => {
  if (!isIsolated(tables) || tenant === undefined) return key
  return isTooLong(tenant, key) ? tooLong('callbackKey', tenant) : under(tenant, key)
}

const tooLong = (path: string, tenant: string): Rejection =>
  invalid([{ path, message: `must have at most ${nameMax - tenant.length - 1} characters: the queue keeps it under ${tenant}:` }])
