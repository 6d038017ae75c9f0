/** The events of tokens, in a stream of their own. They contain the hash of a token, never the token. */
import { listOf, QueueName, TenantName, validate } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { metaOf, parseObject, readStamp } from '../engine/log/wire.js'
import type { RecordedEvent } from '../store/index.js'
import { Rate } from './rate.js'
import { Role } from './roles.js'

export const tokenStream = 'daybook-tokens'

/** Names that the log uses for other actors than the holders of such tokens. */
const reserved: ReadonlyArray<string> = ['admin', 'anonymous', 'daybook']

export const TokenName = t.refinement(
  t.string,
  (text) => /^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/.test(text) && !reserved.includes(text),
  `name of 1 to 64 letters, digits, dots, dashes, underscores and @, other than ${reserved.join(', ')}`,
)

const some = <C extends t.Mixed>(codec: C, what: string) =>
  t.refinement(listOf(codec), (list) => list.length > 0 && list.length <= 100 && new Set(list).size === list.length, `list of 1 to 100 different ${what}`)

const SomeRoles = some(Role, 'roles')
const SomeQueues = some(QueueName, 'queues')
const SomeTenants = some(TenantName, 'tenants')
export const tokenFields = { name: TokenName, roles: SomeRoles }
export const optionalTokenFields = { queues: SomeQueues, tenants: SomeTenants }

/** `expiresAt`: milliseconds since 1970. */
const TokenCreated = t.intersection([
  t.type({ token: t.string, ...tokenFields, sha256: t.refinement(t.string, (text) => /^[0-9a-f]{64}$/.test(text), 'SHA-256 in hex') }),
  t.partial({ ...optionalTokenFields, expiresAt: t.number, rate: Rate }),
])
export type TokenCreated = t.TypeOf<typeof TokenCreated>
const TokenRevoked = t.intersection([t.type({ token: t.string }), t.partial({ reason: t.string })])
export type TokenRevoked = t.TypeOf<typeof TokenRevoked>

export type TokenEvent = { readonly at: number; readonly actor: string } & (
  | { readonly type: 'TokenCreated'; readonly data: TokenCreated }
  | { readonly type: 'TokenRevoked'; readonly data: TokenRevoked }
)

/** An event that this version cannot read. `token`: the token that it is about, if it names one. */
export interface UnreadableTokenEvent {
  readonly token: string | undefined
}

const checkCreated = validate(TokenCreated)
const checkRevoked = validate(TokenRevoked)

/** An unknown member makes an event unreadable: it may be a limit, which must not be ignored. */
export const readTokenEvent = (recorded: RecordedEvent): E.Either<UnreadableTokenEvent, TokenEvent> => {
  const given = parseObject(recorded.data)
  const unreadable: UnreadableTokenEvent = { token: typeof given?.token === 'string' ? given.token : undefined }
  const stamp = readStamp(recorded.metadata, recorded.created)
  if (given === undefined || stamp === undefined || stamp.schemaVersion !== 1) return E.left(unreadable)
  const by = { at: stamp.at, actor: metaOf(recorded.metadata).actor ?? 'unknown' }
  switch (recorded.type) {
    case 'TokenCreated': {
      const data = checkCreated(given)
      return E.isLeft(data) ? E.left(unreadable) : E.right({ type: 'TokenCreated', ...by, data: data.right })
    }
    case 'TokenRevoked': {
      const data = checkRevoked(given)
      return E.isLeft(data) ? E.left(unreadable) : E.right({ type: 'TokenRevoked', ...by, data: data.right })
    }
    default:
      return E.left(unreadable)
  }
}
