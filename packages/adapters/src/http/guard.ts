/** Decides from the headers alone who may make a request, before the body is read. */
import type { IncomingHttpHeaders } from 'node:http'
import * as E from 'fp-ts/lib/Either.js'
import { anonymous, type Denial, type Grant, isLoopback, type Tokens } from '../auth/index.js'
import { refusalOfRole, type Who } from './routes/access.js'
import { problem, type Problem, soonSeconds } from './problem.js'

/** `actor`: the name of the token, if it is a valid one. */
export type Refused = Problem & { readonly actor?: string }

/** The grant: what the caller may do, and its name in the log. */
export type Admitted = E.Either<Refused, Grant>

export const guard =
  (tokens: Tokens | 'off') =>
  (who: Who, headers: IncomingHttpHeaders): Admitted => {
    if (tokens === 'off') return withoutTokens(headers)
    if (who === 'anyone') return nobody
    const [, token] = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '') ?? []
    if (token === undefined) {
      return E.left(problem('unauthorized', 'send a token, for example the one that the server printed at its first start: Authorization: Bearer TOKEN'))
    }
    const checked = tokens.check(token)
    if (E.isLeft(checked)) return E.left(denied(checked.left))
    const waitMs = checked.right.takeTurn()
    if (waitMs > 0) return E.left(tooOften(checked.right, waitMs))
    const refusal = refusalOfRole(checked.right, who)
    return refusal === undefined ? checked : E.left({ ...refusal, actor: checked.right.name })
  }

const tooOften = ({ name }: Grant, waitMs: number): Refused => ({
  actor: name,
  ...problem('too-many-requests', `token ${name} may be used less often: send several tasks or reports in one request, or ask an admin for another rate`, { retryAfterSeconds: Math.ceil(waitMs) / 1_000 }),
})

const nobody: Admitted = E.right(anonymous)

const denied = (why: Denial): Problem => {
  switch (why) {
    case 'unknown':
      return problem('unauthorized', 'this token is not known here')
    case 'expired':
      return problem('unauthorized', 'this token has expired: ask an admin for another one')
    case 'revoked':
      return problem('unauthorized', 'this token was revoked: ask an admin for another one')
    case 'unread':
      return problem('unavailable', 'this server has not read yet which tokens are valid, or a newer server has written what it cannot read', { retryAfterSeconds: soonSeconds })
  }
}

/**
 * Without tokens, every program on this machine may send requests, and so may a browser that shows a page of another site. Such a page is recognised
 * by its `Origin`, or, with DNS rebinding, by a `Host` that is not a loopback name.
 */
const withoutTokens = ({ host = '', origin }: IncomingHttpHeaders): Admitted => {
  const isOwn = isLoopback(host.replace(/:\d+$/, '')) && (origin === undefined || isOwnOrigin(origin, host))
  return isOwn
    ? nobody
    : E.left(problem('forbidden', 'without tokens, this server answers only programs on this machine and its own pages, by a loopback name'))
}

/** Whether a page of this origin is one of the server's own. */
export const isOwnOrigin = (origin: string, host: string | undefined): boolean => origin === `http://${host}` || origin === `https://${host}`
