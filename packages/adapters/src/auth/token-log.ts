/**
 * The tokens that an admin has made, from their events in the store. Every server on a store follows these events. So all servers know a token, or
 * its revocation, some milliseconds after one of them has acknowledged it.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import * as E from 'fp-ts/lib/Either.js'
import type { Subscription } from 'rxjs'
import type { Caller } from '../engine/types.js'
import { errorText } from '../error-text.js'
import type { AppendError, EventStore, EventToAppend, RecordedEvent } from '../store/index.js'
import { type Bounds, endingGrant, type Grant } from './grant.js'
import { hashOf, newToken } from './hash.js'
import { readTokenEvent, type TokenCreated, type TokenEvent, tokenStream } from './token-events.js'

export interface NewToken extends Bounds {
  readonly name: string
}

/** A token without its secret text. */
export interface KnownToken extends NewToken {
  readonly id: string
  readonly createdAt: number
  readonly createdBy: string
  readonly revoked?: { readonly at: number; readonly by: string; readonly reason?: string }
}

export type Denial =
  | 'unknown'
  | 'expired'
  | 'revoked'
  /** The events of tokens are not read yet, or one of them needs a newer version. */
  | 'unread'

export interface TokenProblem {
  readonly reason: string
  /** Milliseconds since 1970. */
  readonly since: number
}

export interface TokenRefusal {
  readonly code: 'conflict' | 'not-found' | 'wrong-state' | 'unavailable' | 'outcome-unknown'
  readonly detail: string
}

interface Entry {
  readonly known: KnownToken
  readonly sha256: string
  readonly grant: Grant
  readonly end: () => void
  revoked: KnownToken['revoked']
  isUnreadable: boolean
}

/** The largest number of valid tokens. Each is looked up by its hash, so the limit is how many a person can survey. */
const tokensMax = 1_000
/** The largest number of ended tokens that are kept, the newest. A refusal then says why the token ended, and lists show it. */
const endedMax = 1_000
const retryMs = 1_000
const conflictsMax = 10

export type TokenStore = Pick<EventStore, 'append' | 'read' | 'subscribe'>

export class TokenLog {
  private readonly byHash = new Map<string, Entry>()
  private readonly byId = new Map<string, Entry>()
  /** The revision of the next event. */
  private next = 0
  private isRead = false
  /** Set by an event that this version cannot read and that does not say which token it is about. */
  private isUnreadable = false
  private unreadableSince = 0
  private isClosed = false
  private toldReady: () => void = () => undefined
  /** Resolves when the events that existed at the start are read. */
  readonly ready = new Promise<void>((resolve) => (this.toldReady = resolve))
  private following: Subscription | undefined
  private again: NodeJS.Timeout | undefined
  /** Why the events could not be followed at the last try, and since when. */
  private unfollowed: TokenProblem | undefined
  private commands: Promise<unknown> = Promise.resolve()

  constructor(
    private readonly store: TokenStore,
    private readonly now: () => number,
    private readonly warn: (message: string) => void,
    private readonly forgotten: (id: string) => void,
  ) {
    this.follow()
  }

  /** The grant of the token with this hash, or the reason for a denial. */
  find(hash: string): E.Either<Denial, Grant> {
    const entry = this.byHash.get(hash)
    if (entry === undefined) return E.left(this.isRead && !this.isUnreadable ? 'unknown' : 'unread')
    if (entry.revoked !== undefined) return E.left('revoked')
    if (this.hasExpired(entry)) return E.left('expired')
    return entry.isUnreadable || this.isUnreadable || !this.isRead ? E.left('unread') : E.right(entry.grant)
  }

  list(): ReadonlyArray<KnownToken> {
    return [...this.byId.values()].map(({ known, revoked }) => (revoked === undefined ? known : { ...known, revoked }))
  }

  create(made: NewToken, caller: Caller): Promise<E.Either<TokenRefusal, { readonly known: KnownToken; readonly token: string }>> {
    return this.inTurn(async () => {
      const token = newToken()
      const id = randomBytes(6).toString('hex')
      const { expiresAt, ...rest } = made
      const data: TokenCreated = { token: id, ...rest, ...(expiresAt === undefined ? {} : { expiresAt }), sha256: hashOf(token) }
      const refused = await this.append('TokenCreated', data, caller, () => this.refusalOf(made))
      if (refused !== undefined) return E.left(refused)
      return E.right({ known: (this.byId.get(id) as Entry).known, token })
    })
  }

  revoke(id: string, reason: string | undefined, caller: Caller): Promise<E.Either<TokenRefusal, KnownToken>> {
    return this.inTurn(async () => {
      const isRevoked = (): boolean => this.byId.get(id)?.revoked !== undefined
      const unknown = (): TokenRefusal | undefined => (this.byId.has(id) ? undefined : { code: 'not-found', detail: `there is no token ${id}: GET /api/tokens lists them` })
      const read = await this.readMore()
      const refused = read ?? unknown() ?? (isRevoked() ? undefined : await this.append('TokenRevoked', { token: id, ...(reason === undefined ? {} : { reason }) }, caller, unknown))
      if (refused !== undefined) return E.left(refused)
      const { known, revoked } = this.byId.get(id) as Entry
      return E.right({ ...known, ...(revoked === undefined ? {} : { revoked }) })
    })
  }

  /** Why this server does not hear of new and revoked tokens, or accepts none of those that were made. */
  problem(): TokenProblem | undefined {
    return this.isUnreadable ? { reason: 'an event of tokens cannot be read: update this server. Until then it does not accept the tokens that were made', since: this.unreadableSince } : this.unfollowed
  }

  close(): void {
    this.isClosed = true
    clearTimeout(this.again)
    this.following?.unsubscribe()
    for (const { end } of this.byId.values()) end()
  }

  // ----------------------------------------------------------------------------------------- fold

  private follow(): void {
    this.following = this.store.subscribe(tokenStream, this.next).subscribe({
      next: (delivered) => {
        if ('_tag' in delivered) {
          this.unfollowed = undefined
          this.isRead = true
          this.toldReady()
        } else for (const event of delivered) this.fold(event)
      },
      // Known tokens stay valid meanwhile.
      error: (error: unknown) => {
        if (this.isClosed) return
        const reason = `the events of tokens cannot be read: ${errorText(error)}`
        if (reason !== this.unfollowed?.reason) this.warn(reason)
        this.unfollowed = { reason, since: this.unfollowed?.since ?? this.now() }
        this.again = setTimeout(() => this.follow(), retryMs)
        this.again.unref()
      },
    })
  }

  private fold(recorded: RecordedEvent): void {
    // This server folds its own event when it is durable, and then receives it once more.
    if (recorded.revision !== this.next) return
    this.next = recorded.revision + 1
    const event = readTokenEvent(recorded)
    if (E.isLeft(event)) this.distrust(event.left.token)
    else this.apply(event.right)
  }

  private apply({ at, actor, ...event }: TokenEvent): void {
    if (event.type === 'TokenRevoked') {
      const entry = this.byId.get(event.data.token)
      if (entry === undefined || entry.revoked !== undefined) return
      const { reason } = event.data
      entry.revoked = { at, by: actor, ...(reason === undefined ? {} : { reason }) }
      return entry.end()
    }
    const { token: id, sha256, ...made } = event.data
    if (this.byId.has(id)) return
    const { name, ...bounds } = made
    const entry: Entry = { known: { id, ...made, createdAt: at, createdBy: actor }, sha256, ...endingGrant(id, name, bounds, (bounds.expiresAt ?? Number.POSITIVE_INFINITY) - this.now()), revoked: undefined, isUnreadable: false }
    this.byId.set(id, entry)
    this.byHash.set(sha256, entry)
    this.forgetOld()
  }

  private forgetOld(): void {
    if (this.byId.size <= tokensMax + endedMax) return
    for (const [id, entry] of this.byId) {
      if (this.isValid(entry)) continue
      this.byId.delete(id)
      this.byHash.delete(entry.sha256)
      this.forgotten(id)
      return
    }
  }

  private isValid(entry: Entry): boolean {
    return entry.revoked === undefined && !this.hasExpired(entry)
  }

  /** What a newer server says of a token may be a limit. So this server does not accept the token until it is updated. */
  private distrust(token: string | undefined): void {
    this.warn(`an event of ${token === undefined ? 'tokens' : `token ${token}`} cannot be read: update this server. Until then it does not accept ${token === undefined ? 'the tokens that were made' : 'this token'}`)
    if (token === undefined) {
      this.isUnreadable = true
      this.unreadableSince = this.now()
      for (const { end } of this.byId.values()) end()
      return
    }
    const entry = this.byId.get(token)
    if (entry === undefined) return
    entry.isUnreadable = true
    entry.end()
  }

  private hasExpired({ known: { expiresAt } }: Entry): boolean {
    return expiresAt !== undefined && expiresAt <= this.now()
  }

  // ---------------------------------------------------------------------------------------- append

  private inTurn<A>(run: () => Promise<A>): Promise<A> {
    const done = this.commands.then(run)
    this.commands = done.catch(() => undefined)
    return done
  }

  private refusalOf({ name }: NewToken): TokenRefusal | undefined {
    const valid = [...this.byId.values()].filter((entry) => this.isValid(entry))
    if (valid.some(({ known }) => known.name === name)) return { code: 'conflict', detail: `there is a valid token ${name}: revoke it first, or take another name; the log tells them apart by their names` }
    if (valid.length >= tokensMax) return { code: 'conflict', detail: `${tokensMax} tokens are valid, which is the limit: revoke those that nobody uses` }
    return undefined
  }

  /** Appends after everything that it has checked. `refusal`: judged again if another server appended first. */
  private async append(type: TokenEvent['type'], data: object, caller: Caller, refusal: () => TokenRefusal | undefined): Promise<TokenRefusal | undefined> {
    const event: EventToAppend = { id: randomUUID(), type, data: JSON.stringify(data), metadata: metadataOf(caller, this.now()) }
    for (let conflicts = 0; conflicts <= conflictsMax; conflicts++) {
      const refused = (await this.readMore()) ?? refusal()
      if (refused !== undefined) return refused
      const outcome = await this.store.append(tokenStream, [event], this.next === 0 ? 'no_stream' : this.next - 1)()
      if (E.isRight(outcome)) {
        this.fold({ ...event, stream: tokenStream, revision: outcome.right.revision, position: 0, created: '' })
        return undefined
      }
      if (outcome.left._tag === 'WrongExpectedRevision') continue
      return failed(outcome.left)
    }
    return { code: 'unavailable', detail: 'other servers change tokens at the same time: try again shortly' }
  }

  /** Reads and folds all events up to now. Returns why that is impossible, if it is. */
  private async readMore(): Promise<TokenRefusal | undefined> {
    try {
      for await (const page of this.store.read(tokenStream, { from: this.next })) for (const event of page) this.fold(event)
      this.isRead = true
      return undefined
    } catch (error) {
      return { code: 'unavailable', detail: `the events of tokens cannot be read now: ${errorText(error)}` }
    }
  }
}

/** Metadata in the form of a queue's events. */
const metadataOf = ({ actor, correlationId }: Caller, at: number): string => {
  const cause = randomUUID()
  return JSON.stringify({ schemaVersion: 1, at: new Date(at).toISOString(), actor, $correlationId: correlationId ?? cause, $causationId: cause })
}

const failed = (error: AppendError): TokenRefusal => {
  switch (error._tag) {
    case 'OutcomeUnknown':
      return { code: 'outcome-unknown', detail: 'it is unknown whether this was done: look at GET /api/tokens' }
    case 'Unavailable':
      return { code: 'unavailable', detail: error.reason }
    default:
      return { code: 'unavailable', detail: 'the log does not accept this' }
  }
}
