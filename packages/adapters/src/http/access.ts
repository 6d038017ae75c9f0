/** Who may call a route. Each route says it in the table, and nothing else decides it. */
import type { Grant, Role } from '../auth/index.js'
import { problem, type Problem } from './problem.js'

/** `anyone` needs no token. An admin may call every route. */
export type Who = 'anyone' | ReadonlyArray<Role>

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

const listed = ({ queues = [] }: Grant): string => `${queues.length === 1 ? 'queue' : 'the queues'} ${queues.join(', ')}`
