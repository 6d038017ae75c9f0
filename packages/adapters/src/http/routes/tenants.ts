/** What a call with a token for some tenants may be about. Nothing here looks at a queue, so no refusal reveals anything about one. */
import { isUnder, under } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import { invalid, problem, type Problem } from '../problem.js'

/** `undefined` for all tenants. */
export type Tenants = ReadonlyArray<string> | undefined

export const isOwn = (tenants: Tenants, tenant: string | undefined): boolean => tenants === undefined || (tenant !== undefined && tenants.includes(tenant))

/** The tenant of a request: the one that it names, or that of the token if it has only one. `path`: where the request names it. */
export const tenantFor = (tenants: Tenants, given: string | undefined, path = 'tenant'): E.Either<Problem, string | undefined> => {
  if (tenants === undefined) return E.right(given)
  if (given === undefined) {
    return tenants.length === 1 ? E.right(tenants[0]) : E.left(invalid([{ path, message: `is required, because the token is for several: ${tenants.join(', ')}` }]))
  }
  return tenants.includes(given) ? E.right(given) : E.left(problem('forbidden', `${path}: the token is for ${tenants.join(', ')} only`))
}

/** The request with its tenant. */
export const withTenant = <A extends { readonly tenant?: string }>(tenants: Tenants, given: A, path?: string): E.Either<Problem, A> =>
  tenants === undefined ? E.right(given) : E.map((tenant: string | undefined): A => (tenant === undefined ? given : { ...given, tenant }))(tenantFor(tenants, given.tenant, path))

/**
 * A new task, with its tenant. A token for tenants gives ids with the tenant's prefix, so that they cannot be another tenant's. `path`: that of the
 * task, ending with a dot.
 */
export const ofProducer = <A extends { readonly id?: string; readonly tenant?: string }>(tenants: Tenants, task: A, path = ''): E.Either<Problem, A> =>
  E.chain(
    (given: A): E.Either<Problem, A> => (tenants === undefined || given.id === undefined ? E.right(given) : E.map(() => given)(underTenant(given.tenant, given.id, `${path}id`))),
  )(withTenant(tenants, task, `${path}tenant`))

/** The request of an agent, with its tenant. The names of a tenant's agents have the tenant's prefix, so that they cannot mean another tenant's agent. */
export const ofAgent = <A extends { readonly agentId: string; readonly tenant?: string }>(tenants: Tenants, given: A): E.Either<Problem, A> =>
  E.chain((asked: A): E.Either<Problem, A> => {
    return tenants === undefined ? E.right(asked) : E.map(() => asked)(underTenant(asked.tenant, given.agentId, 'agentId'))
  })(withTenant(tenants, given))

export const underTenant = (tenant: string | undefined, name: string, path: string): E.Either<Problem, string> =>
  tenant === undefined || isUnder(tenant, name) ? E.right(name) : E.left(invalid([{ path, message: `must begin with ${tenant}: because the token is for this tenant` }]))

/** A callback's key as it is stored for the tenant. */
export const callbackFor = (tenants: Tenants, key: string): E.Either<Problem, string> => {
  const over = tenants?.find((tenant) => isUnder(tenant, key))
  if (tenants === undefined || over !== undefined) return E.right(key)
  return E.map((tenant: string | undefined) => (tenant === undefined ? key : under(tenant, key)))(tenantFor(tenants, undefined, 'key'))
}
