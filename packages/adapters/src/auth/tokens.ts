/**
 * Access tokens. A token is shown once, when it is made; only its SHA-256 is stored.
 *
 * The admin token is in a file of the data folder that only its owner can read, so that there is a way in whatever the log says. An admin makes all
 * other tokens, which are events in the store: see `token-log.ts`.
 */
import { timingSafeEqual } from 'node:crypto'
import { chmodSync, closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { isToken } from '@daybook/client/common'
import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import type { Caller } from '../engine/types.js'
import { makeDurableFolder, syncNames } from '../disk/make-folder.js'
import { openMemoryStore } from '../memory/index.js'
import { type Grant, lastingGrant } from './grant.js'
import { hashOf, newToken } from './hash.js'
import { openLastUses } from './last-uses.js'
import { type Denial, type KnownToken, type NewToken, TokenLog, type TokenProblem, type TokenRefusal, type TokenStore } from './token-log.js'

/** A token as it is listed. `lastUsedAt`: on this server, in milliseconds since 1970. */
export interface ListedToken extends KnownToken {
  readonly status: 'valid' | 'expired' | 'revoked'
  readonly lastUsedAt?: number
}

export interface Tokens {
  readonly check: (token: string) => E.Either<Denial, Grant>
  /** All tokens that were made, oldest first, including those that have ended. */
  readonly list: () => ReadonlyArray<ListedToken>
  /** When the admin token was last used on this server. */
  readonly adminUsedAt: () => number | undefined
  readonly create: (made: NewToken, caller: Caller) => Promise<E.Either<TokenRefusal, { readonly made: ListedToken; readonly token: string }>>
  /** Revokes a token. Revoking it again changes nothing. */
  readonly revoke: (id: string, reason: string | undefined, caller: Caller) => Promise<E.Either<TokenRefusal, ListedToken>>
  /** Resolves when the tokens in the store are known. */
  readonly ready: Promise<void>
  /** Why this server does not hear of new and revoked tokens, or accepts none of those that were made; `undefined` if all is well. */
  readonly problem: () => TokenProblem | undefined
  readonly close: () => Promise<void>
}

export interface OpenedTokens {
  readonly tokens: Tokens
  /** The admin token, if it was made just now. It must be printed, because it cannot be read again later. */
  readonly made: string | undefined
  /** Must be called when the server has started: stores the admin token if it is new. A start that fails before leaves no token that nobody has seen. */
  readonly keep: () => void
}

export interface TokensOptions {
  /** The data folder, created if necessary; or `memory`, for a server that leaves no files behind. */
  readonly dir: string
  /** Sets the admin token, replacing the previous one. */
  readonly adminToken?: string | undefined
  /** The store with the events of all other tokens. Default: one in memory. */
  readonly store?: TokenStore
  /** Milliseconds since 1970. Default: the system's clock. */
  readonly now?: () => number
  readonly warn?: (message: string) => void
}

const Stored = t.type({ name: t.string, role: t.literal('admin'), sha256: t.string, createdAt: t.string })
const TokensFile = t.type({ version: t.literal(1), tokens: t.array(Stored) }, 'tokens file')
type Stored = t.TypeOf<typeof Stored>

const fileName = 'tokens.json'

export const tokensFileOf = (dir: string): string => join(dir, fileName)

/** @throws Error when the file of a data folder is there and a server cannot start with it. */
export const assertTokens = (dir: string): void => void readTokens(tokensFileOf(dir))

/**
 * Opens the tokens of a data folder; makes an admin token if there is none. The file is written by {@link OpenedTokens.keep}.
 *
 * @throws Error when the file cannot be read, or when `adminToken` cannot be sent in a header.
 */
export const openTokens = (options: TokensOptions): OpenedTokens => {
  const { dir, adminToken } = options
  if (adminToken !== undefined && !isToken(adminToken)) {
    throw new Error('the admin token must be printable ASCII without spaces, since it travels in a header')
  }
  const stored = dir === 'memory' ? [] : readTokens(tokensFileOf(dir))
  const known = stored.find(({ name }) => name === 'admin')
  const isSame = adminToken !== undefined && known !== undefined && hashOf(adminToken) === known.sha256
  if (known !== undefined && (adminToken === undefined || isSame)) return { tokens: tokensOf(stored, options), made: undefined, keep: () => undefined }

  const token = adminToken ?? newToken()
  const admin: Stored = {
    name: 'admin',
    role: 'admin',
    sha256: hashOf(token),
    createdAt: new Date().toISOString(),
  }
  const tokens = [admin, ...stored.filter(({ name }) => name !== 'admin')]
  return { tokens: tokensOf(tokens, options), made: adminToken === undefined ? token : undefined, keep: () => (dir === 'memory' ? undefined : writeTokens(dir, tokens)) }
}

const tokensOf = (stored: ReadonlyArray<Stored>, { dir, store = openMemoryStore(), now = Date.now, warn = () => undefined }: TokensOptions): Tokens => {
  const kept = stored.map(({ name, sha256 }) => ({ hash: Buffer.from(sha256, 'hex'), grant: lastingGrant(name, { roles: ['admin'] }) }))
  const uses = openLastUses(dir, warn)
  const log = new TokenLog(store, now, warn, uses.forget)
  const listed = (known: KnownToken): ListedToken => {
    const { id, expiresAt, revoked } = known
    const lastUsedAt = uses.of(id)
    const status = revoked !== undefined ? 'revoked' : expiresAt !== undefined && expiresAt <= now() ? 'expired' : 'valid'
    return { ...known, status, ...(lastUsedAt === undefined ? {} : { lastUsedAt }) }
  }
  return {
    check: (token) => {
      const hash = hashOf(token)
      const bytes = Buffer.from(hash, 'hex')
      const admin = kept.find((each) => timingSafeEqual(each.hash, bytes))?.grant
      // All other tokens are looked up by hash. Whoever measures the time of that learns something of a hash, which leads to no token.
      const found = admin === undefined ? log.find(hash) : E.right(admin)
      if (E.isRight(found)) uses.note(found.right.id, now())
      return found
    },
    list: () => log.list().map(listed),
    adminUsedAt: () => uses.of('admin'),
    create: async (made, caller) => E.map(({ known, token }: { readonly known: KnownToken; readonly token: string }) => ({ made: listed(known), token }))(await log.create(made, caller)),
    revoke: async (id, reason, caller) => E.map(listed)(await log.revoke(id, reason, caller)),
    ready: log.ready,
    problem: () => log.problem(),
    close: async () => {
      log.close()
      await uses.close()
    },
  }
}

const readTokens = (file: string): ReadonlyArray<Stored> => {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
  const decoded = TokensFile.decode(parse(text))
  if (E.isRight(decoded) && decoded.right.tokens.every(({ sha256: hash }) => /^[0-9a-f]{64}$/.test(hash))) {
    return decoded.right.tokens
  }
  throw new Error(`${file} is damaged: restore it, or delete it to have a new admin token made`)
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Writes the file completely or not at all: a half-written file would lock everybody out. */
const writeTokens = (dir: string, tokens: ReadonlyArray<Stored>): void => {
  makeDurableFolder(dir)
  const draft = join(dir, `${fileName}.${process.pid}`)
  const descriptor = openSync(draft, 'w', 0o600)
  try {
    // The mode above is used only for new files.
    chmodSync(draft, 0o600)
    writeSync(descriptor, `${JSON.stringify({ version: 1, tokens }, null, 2)}\n`)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  renameSync(draft, tokensFileOf(dir))
  // Otherwise a power cut could take the file, and with it the token that was shown once.
  syncNames(dir)
}
