/** Parses a request's body as JSON, or says what is wrong with it. */
import { isUtf8 } from 'node:buffer'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isCrowded } from './crowded.js'
import { jsonErrorAt, placeOf } from './json-error.js'
import { infiniteForInexact } from '../../read-json.js'
import { problem, type Problem } from '../problem.js'
import { Refused } from '../problem-of-error.js'

const bodies = new WeakMap<FastifyRequest, Buffer>()
/** The body's bytes. They are kept only for requests with an `Idempotency-Key`. */
export const bytesOf = (request: FastifyRequest): Buffer | undefined => bodies.get(request)

/**
 * Accepts only JSON in UTF-8. Fastify's parser is used because it refuses `__proto__` and `constructor.prototype`. A content parser reports errors by
 * throwing, and the error handler answers with the problem. The message about malformed JSON is replaced by one with line and column. `partBytesMax`: how
 * many bytes the parts of a list or an object may take at least.
 */
export const readJsonBodies = (app: FastifyInstance, partBytesMax: number): void => {
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
    if (isCrowded(bytes, partBytesMax)) {
      return done(new Refused(problem('too-large', `the body has a list or an object with so many parts that it is over ${partBytesMax} bytes: keep large data elsewhere and send a reference`)))
    }
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
  if (at < text.length) return malformed('(body)', `the body is not JSON: unexpected ${JSON.stringify(text[at])} at ${placeOf(text, at)} (offset ${at})`)
  if (!isJson(text)) return malformed('(body)', `the body is not JSON: it ends too soon, at ${placeOf(text, at)} (offset ${at})`)
  return malformed('(body)', 'the keys __proto__ and constructor.prototype are refused at any depth')
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
