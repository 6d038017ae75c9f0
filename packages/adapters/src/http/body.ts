/** A request's body: bytes to JSON, or what is wrong with them. */
import { isUtf8 } from 'node:buffer'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { jsonErrorAt, placeOf } from './json-error.js'
import { infiniteForInexact } from '../read-json.js'
import { problem, type Problem } from './problem.js'

/** Thrown inside Fastify's own machinery, where errors are not values; its error handler answers with the problem. */
export class Refused extends Error {
  override readonly name = 'Refused'
  constructor(readonly problem: Problem) {
    super(problem.detail)
  }
}

const bodies = new WeakMap<FastifyRequest, Buffer>()
/** The body's bytes; kept only of requests with an `Idempotency-Key`. */
export const bytesOf = (request: FastifyRequest): Buffer | undefined => bodies.get(request)

/**
 * Reads JSON alone, in UTF-8 alone. Fastify's parser is kept for its refusal of `__proto__` and
 * `constructor.prototype`; what it says of malformed JSON is replaced by the place.
 */
export const readJsonBodies = (app: FastifyInstance): void => {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const bytes = body as Buffer
    const { 'content-encoding': encoding = 'identity', 'idempotency-key': key } = request.headers
    if (encoding !== 'identity') {
      return done(new Refused(problem('unsupported-media-type', `Content-Encoding ${encoding} is not understood: send the JSON as it is`)))
    }
    if (key !== undefined) bodies.set(request, bytes)
    if (bytes.length === 0) return done(null, undefined)
    if (!isUtf8(bytes)) return done(new Refused(malformed('(body)', 'the body is not UTF-8')))
    const read = request.routeOptions.config.read?.(bytes)
    if (read !== undefined) return done(null, read)
    const text = bytes.toString('utf8')
    // The parser calls back before it returns.
    void parse(request, infiniteForInexact(text), (error, value) => {
      if (error === null) done(null, value)
      else done(new Refused(whyRefused(text)))
    })
  })
}

const whyRefused = (text: string): Problem => {
  const at = jsonErrorAt(text)
  if (at < text.length) return malformed('(body)', `the body is not JSON: ${JSON.stringify(text[at])} cannot stand at ${placeOf(text, at)} (offset ${at})`)
  if (!isJson(text)) return malformed('(body)', `the body is not JSON: it ends too soon, at ${placeOf(text, at)} (offset ${at})`)
  return malformed('(body)', 'the keys __proto__ and constructor.prototype are refused wherever they stand')
}

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const malformed = (path: string, message: string): Problem => problem('invalid', message, { errors: [{ path, message }] })
