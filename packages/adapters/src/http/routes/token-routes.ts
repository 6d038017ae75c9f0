/** The routes of tokens. */
import { between, integer } from '@daybook/core'
import * as t from 'io-ts'
import { optionalTokenFields, Rate, Role, roles, TokenName, type Tokens, tokenFields } from '../../auth/index.js'
import { orNull } from '../answers/parts.js'
import * as tokens from '../handle/tokens.js'
import { described } from '../openapi/json-schema.js'
import * as q from '../query.js'
import { input, parameters, type Route, serverRoute } from './route.js'
import { Time } from '../../iso-time.js'

described(TokenName, { type: 'string', pattern: '^(?!(admin|anonymous|daybook)$)[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$', description: TokenName.name })

/** Without `burst`: the requests of one second, and at least one. */
const NewRate = t.intersection([t.type({ perSecond: between(0.001, 100_000) }), t.partial({ burst: integer(1, 100_000) })], 'NewRate')

export const NewTokenBody = t.intersection([t.type(tokenFields), t.partial({ ...optionalTokenFields, expiresAt: Time, rate: NewRate })], 'NewToken')
export type NewTokenBody = t.TypeOf<typeof NewTokenBody>

const Ended = t.intersection([t.type({ at: Time, by: t.string }), t.partial({ reason: t.string })])
/** `lastUsedAt`: on this server. */
const listed = t.intersection([
  t.type({
    id: t.string,
    name: t.string,
    roles: t.readonlyArray(Role),
    status: t.keyof({ valid: null, expired: null, revoked: null }),
    lastUsedAt: orNull(Time),
  }),
  t.partial({ queues: t.readonlyArray(t.string), tenants: t.readonlyArray(t.string), rate: Rate, expiresAt: Time, createdAt: Time, createdBy: t.string, revoked: Ended }),
])
const ListedAnswer = t.intersection([listed, t.type({})], 'Token')
const TokensAnswer = t.type({ tokens: t.readonlyArray(ListedAnswer) }, 'Tokens')
const MadeAnswer = t.intersection([listed, t.type({ token: t.string })], 'Made token')

/** `auth`: `off` if the server accepts no tokens, and everybody may do everything. */
const MeAnswer = t.intersection(
  [
    t.type({ name: t.string, roles: t.readonlyArray(Role), auth: t.keyof({ tokens: null, off: null }) }),
    t.partial({ queues: t.readonlyArray(t.string), tenants: t.readonlyArray(t.string), rate: Rate, expiresAt: Time }),
  ],
  'Me',
)

export const tokenRoutes = (of: Tokens | 'off'): ReadonlyArray<Route> => [
  serverRoute({
    method: 'GET', path: '/api/me', who: roles, tenants: 'open', shows: 'no queue',
    tag: 'tokens', summary: 'What the token of this request is for.',
    description: "The caller's own token: its name, its roles, its queues and tenants if it is not for all, how often it may be used, and when it expires.",
    answers: { 200: MeAnswer }, handle: tokens.me(of),
  }),
  serverRoute({
    method: 'GET', path: '/api/tokens', who: ['admin'], tenants: 'refused', shows: 'all queues',
    tag: 'tokens', summary: 'All tokens.',
    description: 'All tokens, also those that have expired or were revoked, with the roles of each and when it was used last on this server.',
    refusals: ['disabled'],
    answers: { 200: TokensAnswer }, handle: tokens.list(of),
  }),
  serverRoute({
    method: 'POST', path: '/api/tokens', who: ['admin'], tenants: 'refused', shows: 'all queues',
    tag: 'tokens', summary: 'Makes a token.',
    description: 'Makes a token with one role or several, for all queues and tenants or some, until it expires or is revoked. This answer alone has the token: only its hash is kept.',
    refusals: ['disabled', 'conflict', 'outcome-unknown'],
    body: input(NewTokenBody), answers: { 201: MadeAnswer }, handle: tokens.create(of),
  }),
  serverRoute({
    method: 'DELETE', path: '/api/tokens/{id}', who: ['admin'], tenants: 'refused', shows: 'all queues',
    tag: 'tokens', summary: 'Revokes a token at once.',
    description: 'Revokes a token at once: its waiting claims and its WebSockets end as well.',
    refusals: ['disabled', 'not-found', 'wrong-state', 'outcome-unknown'],
    query: parameters(q.reasonQuery), answers: { 200: ListedAnswer }, handle: tokens.revoke(of),
  }),
]
