/** Who may call a route. The table of routes says it, and nothing else decides it. */
import type { Grant, Role } from '../../auth/index.js'
import { problem, type Problem } from '../problem.js'

/** `anyone` needs no token. An admin may call every route. */
export type Who = 'anyone' | ReadonlyArray<Role>

/**
 * What a route does for a token that is limited to some tenants. A new route must say it, or it does not compile. Unless it is certain that its
 * answer is limited to the tenants, a route says `refused`.
 *
 * - `refused`: nothing. Its effect or answer is about the whole queue, or about all queues.
 * - `task`: everything, for the task of the path's `{id}`. For a task of another tenant, the answer is the same as for a task that does not exist.
 *   The server does both before the handler runs.
 * - `own`: the handler limits its effect and answer to the tenants of the call.
 * - `open`: everything, because it says nothing about tasks.
 */
export type ForTenants = 'refused' | 'task' | 'own' | 'open'

/** The roles that may read everything about a queue. */
export const readers: ReadonlyArray<Role> = ['operator', 'guardian', 'auditor']

/** The roles that may call the route, for documents. */
export const rolesOf = (who: Who): ReadonlyArray<string> => (who === 'anyone' ? [who] : [...new Set([...who, 'admin'])])

export const hasRole = ({ roles }: Grant, ...wanted: ReadonlyArray<Role>): boolean => roles.includes('admin') || wanted.some((role) => roles.includes(role))

/** Whether the grant is limited to some queues. */
const isBound = ({ queues }: Grant): boolean => queues !== undefined

export const mayUse = ({ queues }: Grant, queue: string): boolean => queues === undefined || queues.includes(queue)

/** Why the grant's role does not permit the call; `undefined` if it does. */
export const refusalOfRole = (grant: Grant, who: Who): Problem | undefined => {
  if (who === 'anyone' || hasRole(grant, ...who)) return undefined
  return problem('forbidden', `this needs the role ${rolesOf(who).join(' or ')}: token ${grant.name} is ${grant.roles.join(' and ')}`)
}

/** The answer is the same whether the queue exists or not. */
export const refusalOfQueue = (grant: Grant, queue: string): Problem | undefined =>
  mayUse(grant, queue) ? undefined : problem('forbidden', `token ${grant.name} is for ${listed(grant)} only`)

/** The refusal of routes that show all queues; `undefined` if the grant is for all. */
export const refusalOfBound = (grant: Grant): Problem | undefined =>
  isBound(grant) ? problem('forbidden', `this is about all queues, and token ${grant.name} is for ${listed(grant)} only`) : undefined

/** The refusal of routes whose answer is not limited to tenants. */
export const refusalOfTenants = (grant: Grant, forTenants: ForTenants): Problem | undefined =>
  grant.tenants !== undefined && forTenants === 'refused' ? notForTenants(grant, 'this is about all tenants') : undefined

/** The answer is the same whether the queue exists or not. */
export const notForTenants = ({ name, tenants = [] }: Pick<Grant, 'name' | 'tenants'>, why: string): Problem =>
  problem('forbidden', `${why}, and token ${name} is for ${tenants.length === 1 ? 'tenant' : 'the tenants'} ${tenants.join(', ')} only`)

const listed = ({ queues = [] }: Grant): string => `${queues.length === 1 ? 'queue' : 'the queues'} ${queues.join(', ')}`
