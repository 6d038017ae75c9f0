/** Tokens: who may use the server, and for what. */
import type { CallOptions } from '../options.js'
import type { Time } from './tasks.js'

export type TokenRole = 'producer' | 'worker' | 'operator' | 'guardian' | 'auditor' | 'admin'

export interface NewToken {
  /** The actor of its commands in the log. The names of valid tokens are unique. */
  readonly name: string
  readonly roles: ReadonlyArray<TokenRole>
  /** The only queues that it may use. Default: all. */
  readonly queues?: ReadonlyArray<string> | undefined
  /** The only tenants whose tasks it may see and change. Such a token can only use queues with the setting `tenants: isolated`. Default: all. */
  readonly tenants?: ReadonlyArray<string> | undefined
  /**
   * The allowed requests per second on average, and `burst` at once, on each server. A bulk request counts as one. Default: no limit. `burst`
   * defaults to the requests of one second.
   */
  readonly rate?: { readonly perSecond: number; readonly burst?: number } | undefined
  /** ISO 8601, or a `Date`. Default: never. */
  readonly expiresAt?: Time | undefined
}

export interface TokenView {
  readonly id: string
  readonly name: string
  readonly roles: ReadonlyArray<TokenRole>
  readonly status: 'valid' | 'expired' | 'revoked'
  readonly queues?: ReadonlyArray<string>
  readonly tenants?: ReadonlyArray<string>
  readonly rate?: { readonly perSecond: number; readonly burst: number }
  readonly expiresAt?: string
  /** Missing for the admin token that the server makes. */
  readonly createdAt?: string
  readonly createdBy?: string
  readonly revoked?: { readonly at: string; readonly by: string; readonly reason?: string }
  /** On the server that was asked. ISO 8601; `null` if never. */
  readonly lastUsedAt: string | null
}

/** The token of this client. */
export interface Me {
  /** The actor of its commands in the log. */
  readonly name: string
  readonly roles: ReadonlyArray<TokenRole>
  /** The only queues that it may use. Default: all. */
  readonly queues?: ReadonlyArray<string>
  /** The only tenants whose tasks it may see and change. Default: all. */
  readonly tenants?: ReadonlyArray<string>
  readonly rate?: { readonly perSecond: number; readonly burst: number }
  /** Default: never. */
  readonly expiresAt?: string
  /** `off`: the server accepts no tokens, and everybody may do everything. */
  readonly auth: 'tokens' | 'off'
}

/** The tokens of the server, whatever queue the client is for. All methods need the role `admin`. */
export interface ClientTokens {
  /** All tokens, including those that have expired or were revoked. */
  readonly list: (options?: CallOptions) => Promise<ReadonlyArray<TokenView>>
  /** Makes a token. The answer has the token's text, which cannot be read again later. */
  readonly create: (made: NewToken, options?: CallOptions) => Promise<TokenView & { readonly token: string }>
  /** Revokes a token at once, on all servers. */
  readonly revoke: (id: string, reason?: string, options?: CallOptions) => Promise<TokenView>
}
