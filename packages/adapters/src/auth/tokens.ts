/**
 * Access tokens. A token is shown once, when it is made. Its SHA-256 is stored in a file that only its owner can read.
 * 256 random bits cannot be guessed, so a slow hash would add nothing.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { chmodSync, closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { makeFolder } from '../files/make-folder.js'

/** What the holder of a token may do, and the name by which the log knows who did it. */
export interface Grant {
  readonly name: string
  readonly role: 'admin'
}

export interface Tokens {
  /** Takes the same time for every wrong token. */
  readonly check: (token: string) => Grant | undefined
}

export interface OpenedTokens {
  readonly tokens: Tokens
  /** The admin token if it was made just now: to be printed once, it cannot be had again. */
  readonly made: string | undefined
}

export interface TokensOptions {
  /** The data folder, made if need be; or `memory`, for a server that leaves nothing behind. */
  readonly dir: string
  /** Sets the admin token, replacing the former one. */
  readonly adminToken?: string | undefined
}

const Stored = t.type({ name: t.string, role: t.literal('admin'), sha256: t.string, createdAt: t.string })
const TokensFile = t.type({ version: t.literal(1), tokens: t.array(Stored) }, 'tokens file')
type Stored = t.TypeOf<typeof Stored>

const fileName = 'tokens.json'

/**
 * Opens the tokens of a data folder; makes an admin token if there is none.
 *
 * @throws Error when the file cannot be read or written, or when `adminToken` cannot be sent in a header.
 */
export const openTokens = ({ dir, adminToken }: TokensOptions): OpenedTokens => {
  if (adminToken !== undefined && !/^[\x21-\x7e]+$/.test(adminToken)) {
    throw new Error('the admin token must be printable ASCII without spaces, since it travels in a header')
  }
  const stored = dir === 'memory' ? [] : readTokens(join(dir, fileName))
  const known = stored.find(({ name }) => name === 'admin')
  const isSame = adminToken !== undefined && known !== undefined && sha256(adminToken).toString('hex') === known.sha256
  if (known !== undefined && (adminToken === undefined || isSame)) return { tokens: tokensOf(stored), made: undefined }

  const token = adminToken ?? `dbk_${randomBytes(32).toString('base64url')}`
  const admin: Stored = {
    name: 'admin',
    role: 'admin',
    sha256: sha256(token).toString('hex'),
    createdAt: new Date().toISOString(),
  }
  const tokens = [admin, ...stored.filter(({ name }) => name !== 'admin')]
  if (dir !== 'memory') writeTokens(dir, tokens)
  return { tokens: tokensOf(tokens), made: adminToken === undefined ? token : undefined }
}

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest()

const tokensOf = (stored: ReadonlyArray<Stored>): Tokens => {
  const grants = stored.map(({ name, role, sha256: hash }) => ({ hash: Buffer.from(hash, 'hex'), grant: { name, role } }))
  return {
    check: (token) => {
      const presented = sha256(token)
      let found: Grant | undefined
      // All are compared, so that the time says nothing about which one came close.
      for (const { hash, grant } of grants) if (timingSafeEqual(hash, presented)) found = grant
      return found
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

/** Whole or not at all: a half-written file would lock everybody out. */
const writeTokens = (dir: string, tokens: ReadonlyArray<Stored>): void => {
  makeFolder(dir)
  const draft = join(dir, `${fileName}.${process.pid}`)
  const descriptor = openSync(draft, 'w', 0o600)
  try {
    // The mode above holds for new files only.
    chmodSync(draft, 0o600)
    writeSync(descriptor, `${JSON.stringify({ version: 1, tokens }, null, 2)}\n`)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  renameSync(draft, join(dir, fileName))
}
