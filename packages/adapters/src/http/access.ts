/** Who may call a route. Each route says it in the table, and nothing else decides it. */
import type { Grant, Role } from '../auth/index.js'
import { problem, type Problem } from './problem.js'

/** `anyone` needs no token. An admin may call every route. */
export type Who = 'anyone' | ReadonlyArray<Role>

/**
 * What a route does for a token that is for some tenants only. A new route says it, or does not compile; what is not sure to be cut is `refused`.
 *
 * - `refused`: nothing. What it does or tells is about the whole queue, or about all queues.
 * - `task`: all of it, for the task of the path's `{id}`. For a task of another tenant, the answer is that for one that does not exist. The server sees to
 *   both, before the handler runs.
 * - `own`: the handler cuts what it does and tells to the tenants of the call.
 * - `open`: all of it: it tells nothing of tasks.
 */
export type ForTenants = 'refused' | 'task' | 'own' | 'open'

/** Those who may read everything about a queue. */
export const readers: ReadonlyArray<Role> = ['operator', 'guardian', 'auditor']

/** The roles that may call it, for documents. */
export const rolesOf = (who: Who): ReadonlyArray<string> => (who === 'anyone' ? [who] : [...new Set([...who, 'admin'])])

export const hasRole = ({ roles }: Grant, ...wanted: ReadonlyArray<Role>): boolean => roles.includes('admin') || wanted.some((role) => roles.includes(role))

/** Whether it may use some queues only. */
export const isBound = ({ queues }: Grant): boolean => queues !== undefined

export const mayUse = ({ queues }: Grant, queue: string): boolean => queues === undefined || queues.includes(queue)

/** Why a grant may not do it; `undefined` if it may. */
export const refusalOfRole = (grant: Grant, who: Who): Problem | undefined => {
  if (who === 'anyone' || hasRole(grant, ...who)) return undefined
  return problem('forbidden', `this needs the role ${rolesOf(who).join(' or ')}: token ${grant.name} is ${grant.roles.join(' and ')}`)
}

/** The same whether there is such a queue or not. */
export const refusalOfQueue = (grant: Grant, queue: string): Problem | undefined =>
  mayUse(grant, queue) ? undefined : problem('forbidden', `token ${grant.name} is for ${listed(grant)} only`)

/** Of what shows all queues. */
export const refusalOfBound = (grant: Grant): Problem | undefined =>
  isBound(grant) ? problem('forbidden', `this is about all queues, and token ${grant.name} is for ${listed(grant)} only`) : undefined

/** Of what is not cut to tenants. */
export const refusalOfTenants = (grant: Grant, forTenants: ForTenants): Problem | undefined =>
  grant.tenants !== undefined && forTenants === 'refused' ? notForTenants(grant, 'this is about all tenants') : undefined

/** The same whether there is such a queue or not. */
export const notForTenants = ({ name, tenants = [] }: Pick<Grant, 'name' | 'tenants'>, why: string): Problem =>
  problem('forbidden', `${why}, and token ${name} is for ${tenants.length === 1 ? 'tenant' : 'the tenants'} ${tenants.join(', ')} only`)

const listed = ({ queues = [] }: Grant): string => `${queues.length === 1 ? 'queue' : 'the queues'} ${queues.join(', ')}`
