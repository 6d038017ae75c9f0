/** Tokens: who may use the server, and for what. */
import type { CallOptions } from './options.js'
import type { Time } from './tasks.js'

export type TokenRole = 'producer' | 'worker' | 'operator' | 'guardian' | 'auditor' | 'admin'

export interface NewToken {
  /** The actor of what it does, in the log. No two valid tokens have the same. */
  readonly name: string
  readonly roles: ReadonlyArray<TokenRole>
  /** The only queues that it may use. Default: all. */
  readonly queues?: ReadonlyArray<string>
  /** The only tenants whose tasks it may see and change; then it is for queues with the setting `tenants: isolated`. Default: all. */
  readonly tenants?: ReadonlyArray<string>
  /** So many requests a second on average, and `burst` at once, on each server. A bulk request is one. Default: any. `burst` is by default that of a second. */
  readonly rate?: { readonly perSecond: number; readonly burst?: number }
  /** Default: never. */
  readonly expiresAt?: Time
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
  /** Not of the admin token, which the server makes. */
  readonly createdAt?: string
  readonly createdBy?: string
  readonly revoked?: { readonly at: string; readonly by: string; readonly reason?: string }
  /** On the server that was asked; `null` if never. */
  readonly lastUsedAt: string | null
}

/** The token that a client uses. */
export interface Me {
  /** The actor of what it does, in the log. */
  readonly name: string
  readonly roles: ReadonlyArray<TokenRole>
  /** The only queues that it may use. Default: all. */
  readonly queues?: ReadonlyArray<string>
  /** The only tenants whose tasks it may see and change. Default: all. */
  readonly tenants?: ReadonlyArray<string>
  readonly rate?: { readonly perSecond: number; readonly burst: number }
  /** Default: never. */
  readonly expiresAt?: string
  /** `off`: the server takes no tokens, and everybody may do everything. */
  readonly auth: 'tokens' | 'off'
}

/** Of the server, whatever queue the client is about. They need the role `admin`. */
export interface ClientTokens {
  /** Also those that have expired or were revoked. */
  readonly list: (options?: CallOptions) => Promise<ReadonlyArray<TokenView>>
  /** The answer has the token. It cannot be had again. */
  readonly create: (made: NewToken, options?: CallOptions) => Promise<TokenView & { readonly token: string }>
  /** At once, on all servers. */
  readonly revoke: (id: string, reason?: string, options?: CallOptions) => Promise<TokenView>
}
