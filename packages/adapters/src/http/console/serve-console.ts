/**
 * Serves the console. It has no private routes. Its page is the same for everybody, and fetches its data from the API with the user's token. Every
 * address of the console returns the same page, which reads the address itself. Programs do not ask for HTML, so they get a problem as on other
 * routes.
 */
import type { IncomingHttpHeaders } from 'node:http'
import * as E from 'fp-ts/lib/Either.js'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Who } from '../routes/access.js'
import type { Admitted } from '../guard.js'
import { problem, type Problem } from '../problem.js'
import { securityHeaders } from '../security-headers.js'
import type { ConsoleSite, SiteFile } from './site.js'

/** The addresses of the console. `*` stands for any text. */
export const consolePages = ['/', '/q/*'] as const

/** The page may run and load only what this server sends. Text never becomes code, and no site may frame the page. */
const pageHeaders = {
  ...securityHeaders,
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  'x-frame-options': 'DENY',
}

export interface ConsoleServing {
  readonly admit: (who: Who, headers: IncomingHttpHeaders) => Admitted
  readonly answered: (path: string, status: number) => void
  readonly refuse: (reply: FastifyReply, request: FastifyRequest, what: Problem) => FastifyReply
}

export const serveConsole = (app: FastifyInstance, { page, assets }: ConsoleSite, { admit, answered, refuse }: ConsoleServing): void => {
  const serve = (path: string, found: (request: FastifyRequest) => SiteFile | Problem, cacheControl: string, vary: string): void => {
    app.get(path, (request, reply) => {
      // Without tokens, requests by a page of another origin are refused here as well.
      const admitted = admit('anyone', request.headers)
      if (E.isLeft(admitted)) return refuse(reply, request, admitted.left)
      const file = found(request)
      if ('code' in file) return refuse(reply, request, file)
      void reply.headers({ ...pageHeaders, vary, etag: file.etag, 'cache-control': cacheControl, 'x-correlation-id': request.id })
      const isKnown = (request.headers['if-none-match'] ?? '').split(',').some((tag) => tag.trim().replace(/^W\//, '') === file.etag)
      answered(path, isKnown ? 304 : 200)
      return isKnown ? reply.code(304).send() : sendFile(reply, request, file)
    })
  }
  for (const path of consolePages) serve(path, ({ headers }) => (wantsHtml(headers) ? page : notHtml), 'no-cache', 'accept, accept-encoding')
  serve(
    '/assets/*',
    ({ params, url }) => assets.get((params as { readonly '*': string })['*']) ?? problem('not-found', `there is no file ${url.split('?', 1)[0]}: reload the page, the server may have another version of it now`),
    'public, max-age=31536000, immutable',
    'accept-encoding',
  )
}

const notHtml = problem('not-found', 'there is a page of the console here, for browsers (Accept: text/html); for programs see /api/openapi.json')

const wantsHtml = ({ accept = '' }: IncomingHttpHeaders): boolean => accept.includes('text/html')

const sendFile = (reply: FastifyReply, { headers }: FastifyRequest, { type, plain, gzip, brotli }: SiteFile): FastifyReply => {
  void reply.header('content-type', type)
  const accepted = String(headers['accept-encoding'] ?? '')
  if (brotli !== undefined && accepts(accepted, 'br')) return reply.header('content-encoding', 'br').send(brotli)
  if (gzip !== undefined && accepts(accepted, 'gzip')) return reply.header('content-encoding', 'gzip').send(gzip)
  return reply.send(plain)
}

/** Whether the `Accept-Encoding` header accepts the encoding, that is names it without `q=0`. */
const accepts = (header: string, encoding: string): boolean =>
  header.split(',').some((each) => {
    const [name = '', ...parameters] = each.split(';').map((part) => part.trim().toLowerCase())
    return name === encoding && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
  })
