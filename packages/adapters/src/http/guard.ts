/** Who may make a request at all: decided on its headers, before any of its body is read. */
import type { IncomingHttpHeaders } from 'node:http'
import * as E from 'fp-ts/lib/Either.js'
import { isLoopback, type Tokens } from '../auth/index.js'
import { problem, type Problem } from './problem.js'
import type { Role } from './route.js'

/** The name of whoever asks, for the log. */
export type Admitted = E.Either<Problem, string>

export const guard =
  (tokens: Tokens | 'off') =>
  (role: Role, headers: IncomingHttpHeaders): Admitted => {
    if (tokens === 'off') return withoutTokens(headers)
    if (role === 'anyone') return E.right('anonymous')
    const [, token] = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '') ?? []
    if (token === undefined) {
      return E.left(problem('unauthorized', 'send the token that the server printed at its first start: Authorization: Bearer TOKEN'))
    }
    const grant = tokens.check(token)
    // `admin`, the one role there is as yet, may do everything.
    return grant === undefined ? E.left(problem('unauthorized', 'this token is not known here')) : E.right(grant.name)
  }

/**
 * Without tokens, everything on this machine may ask, and a browser on it shows pages from anywhere. A page's
 * request says where it comes from (`Origin`), or comes under another name (`Host`, DNS rebinding).
 */
const withoutTokens = ({ host = '', origin }: IncomingHttpHeaders): Admitted => {
  const isOwn = isLoopback(host.replace(/:\d+$/, '')) && (origin === undefined || origin === `http://${host}`)
  return isOwn
    ? E.right('anonymous')
    : E.left(problem('forbidden', 'without tokens, this server answers only programs on this machine and its own pages, by a loopback name'))
}
