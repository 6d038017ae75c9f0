/** Decides who may make a request, from its headers alone, before the body is read. */
import type { IncomingHttpHeaders } from 'node:http'
import * as E from 'fp-ts/lib/Either.js'
import { isLoopback, type Tokens } from '../auth/index.js'
import { problem, type Problem } from './problem.js'
import type { Role } from './route.js'

/** The caller's name, for the log. */
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
    // `admin` is the only role so far, and may do everything.
    return grant === undefined ? E.left(problem('unauthorized', 'this token is not known here')) : E.right(grant.name)
  }

/**
 * Without tokens, every program on this machine may send requests, also a browser that shows a page from elsewhere.
 * Such a page is recognised by its `Origin`, or, with DNS rebinding, by a `Host` that is not a loopback name.
 */
const withoutTokens = ({ host = '', origin }: IncomingHttpHeaders): Admitted => {
  const isOwn = isLoopback(host.replace(/:\d+$/, '')) && (origin === undefined || origin === `http://${host}`)
  return isOwn
    ? E.right('anonymous')
    : E.left(problem('forbidden', 'without tokens, this server answers only programs on this machine and its own pages, by a loopback name'))
}
