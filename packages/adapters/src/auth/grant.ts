/** What a token permits for as long as it is valid. */
import { longTimer } from '@daybook/client/common'
import { type Rate, type TakeTurn, turnsAt, unlimited } from './rate.js'
import type { Role } from './roles.js'

/** The limits of a grant, as they were set when its token was made. */
export interface Bounds {
  readonly roles: ReadonlyArray<Role>
  /** The only queues that it may use. Default: all. */
  readonly queues?: ReadonlyArray<string>
  /** The only tenants whose tasks it may see and change, in isolated queues. Default: all. */
  readonly tenants?: ReadonlyArray<string>
  /** Default: no limit. */
  readonly rate?: Rate
  /** When it ends by itself, in milliseconds since 1970. Default: never. */
  readonly expiresAt?: number
}

export interface Grant extends Bounds {
  readonly id: string
  /** The actor of its commands in the log. */
  readonly name: string
  /** Counts one more request; see {@link TakeTurn}. */
  readonly takeTurn: TakeTurn
  readonly hasEnded: () => boolean
  /** Calls back once when the token is revoked or has expired. The returned function removes the callback. */
  readonly onEnd: (ended: () => void) => () => void
}

/** The grant of a token that is never revoked while the server runs. */
export const lastingGrant = (id: string, bounds: Bounds): Grant => ({ id, name: id, ...bounds, takeTurn: unlimited, hasEnded: () => false, onEnd: () => () => undefined })

/** The grant without tokens: everybody may do everything. */
export const anonymous: Grant = lastingGrant('anonymous', { roles: ['admin'] })

/** A grant that can end. `endsInMs`: after this time it ends by itself. */
export const endingGrant = (id: string, name: string, bounds: Bounds, endsInMs: number): { readonly grant: Grant; readonly end: () => void } => {
  const waiting = new Set<() => void>()
  let hasEnded = false
  const end = (): void => {
    if (hasEnded) return
    hasEnded = true
    cancel()
    for (const ended of [...waiting]) ended()
    waiting.clear()
  }
  const cancel = Number.isFinite(endsInMs) ? longTimer(Math.max(0, endsInMs), end, { unref: true }) : () => undefined
  const onEnd: Grant['onEnd'] = (ended) => {
    waiting.add(ended)
    return () => void waiting.delete(ended)
  }
  return { grant: { id, name, ...bounds, takeTurn: bounds.rate === undefined ? unlimited : turnsAt(bounds.rate), hasEnded: () => hasEnded, onEnd }, end }
}
