/** Tokens: who may use this server, and for what. */
import * as E from 'fp-ts/lib/Either.js'
import type { ListedToken, TokenRefusal, Tokens } from '../../auth/index.js'
import { defined, ifDefined } from '../../defined.js'
import { invalid, problem, type Problem } from '../problem.js'
import type { ReasonQuery } from '../query.js'
import type { Call, Handled } from '../routes/route.js'
import { isoOf, millisecondsOf } from '../../iso-time.js'
import type { NewTokenBody } from '../routes/token-routes.js'

const isOff = problem('disabled', 'this server runs with --auth off, and takes no tokens')

const shown = ({ id, name, roles, status, queues, tenants, rate, createdAt, createdBy, expiresAt, revoked, lastUsedAt }: ListedToken): object => ({
  id,
  name,
  roles,
  status,
  queues,
  tenants,
  rate,
  expiresAt: ifDefined(expiresAt, isoOf),
  createdAt: isoOf(createdAt),
  createdBy,
  revoked: ifDefined(revoked, (when) => ({ ...when, at: isoOf(when.at) })),
  lastUsedAt: ifDefined(lastUsedAt, isoOf) ?? null,
})

const problemOfToken = ({ code, detail }: TokenRefusal): Problem =>
  problem(code, detail, code === 'unavailable' || code === 'outcome-unknown' ? { retryAfterSeconds: 1 } : {})

export const list =
  (tokens: Tokens | 'off') =>
  (): Promise<Handled> => {
    if (tokens === 'off') return Promise.resolve(E.left(isOff))
    const admin = { id: 'admin', name: 'admin', roles: ['admin'], status: 'valid', lastUsedAt: ifDefined(tokens.adminUsedAt(), isoOf) ?? null }
    return Promise.resolve(E.right({ status: 200, text: JSON.stringify({ tokens: [admin, ...tokens.list().map(shown)] }) }))
  }

/** What the caller's own token permits. */
export const me =
  (tokens: Tokens | 'off') =>
  ({ grant: { name, roles, queues, tenants, rate, expiresAt } }: Call): Promise<Handled> =>
    Promise.resolve(E.right({ status: 200, text: JSON.stringify({ name, roles, queues, tenants, rate, expiresAt: ifDefined(expiresAt, isoOf), auth: tokens === 'off' ? 'off' : 'tokens' }) }))

export const create =
  (tokens: Tokens | 'off') =>
  async ({ daybook, body, caller }: Call<NewTokenBody>): Promise<Handled> => {
    if (tokens === 'off') return E.left(isOff)
    const { expiresAt: until, rate, ...given } = body
    const expiresAt = ifDefined(until, millisecondsOf)
    if (expiresAt !== undefined && expiresAt <= daybook.now()) return E.left(invalid([{ path: 'expiresAt', message: 'is over already' }]))
    // An admin can make any token, so a limit on an admin token would have no effect.
    for (const path of ['queues', 'tenants'] as const) {
      if (given[path] !== undefined && given.roles.includes('admin')) return E.left(invalid([{ path, message: 'cannot limit an admin: give other roles' }]))
    }
    const limits = rate === undefined ? {} : { rate: { burst: Math.max(1, Math.ceil(rate.perSecond)), ...rate } }
    const done = await tokens.create({ ...given, ...limits, ...defined({ expiresAt }) }, caller)
    if (E.isLeft(done)) return E.left(problemOfToken(done.left))
    const { made, token } = done.right
    return E.right({ status: 201, text: JSON.stringify({ ...shown(made), token }), isSecret: true })
  }

export const revoke =
  (tokens: Tokens | 'off') =>
  async ({ params, query, caller }: Call<unknown, ReasonQuery>): Promise<Handled> => {
    if (tokens === 'off') return E.left(isOff)
    const { id = '' } = params
    if (id === 'admin') return E.left(problem('wrong-state', 'the admin token is not revoked, but replaced: start the server with another DAYBOOK_TOKEN'))
    const revoked = await tokens.revoke(id, query.reason, caller)
    return E.isLeft(revoked) ? E.left(problemOfToken(revoked.left)) : E.right({ status: 200, text: JSON.stringify(shown(revoked.right)) })
  }
