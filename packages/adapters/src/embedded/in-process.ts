/**
 * The client's transport to routes in the same process. The code that serves HTTP also checks and answers these requests, so a program gets the same
 * answers and refusals from both.
 */
import { randomUUID } from 'node:crypto'
import type { Readable } from 'node:stream'
import { abortedError, closedError, type HttpAnswer, type HttpRequest, type HttpStream, onAbort, type Transport } from '@daybook/client/internal'
import { traceParentOf } from '@daybook/core'
import type { Grant } from '../auth/index.js'
import { problem, type Problem } from '../http/problem.js'
import { problemOfError, Refused } from '../http/problem-of-error.js'
import type { Route } from '../http/routes/route.js'
import { renderProblem, type Sent, serveRoute } from '../http/serve-route.js'
import type { Service } from '../http/service.js'
import { infiniteForInexact } from '../read-json.js'
import { findRouteIn } from './find-route.js'

type Answered = Sent & { readonly retryAfterSeconds?: number }

/** `release`: called once, when no request is in flight any more. */
export const inProcess = ({ routes, context }: Pick<Service, 'routes' | 'context'>, grant: Grant, release: () => Promise<void>): Transport => {
  const find = findRouteIn(routes)
  const closing = new AbortController()
  const underWay = new Set<Promise<unknown>>()
  let closed: Promise<void> | undefined

  const answer = async (asked: HttpRequest, gone: AbortSignal): Promise<Answered> => {
    const { idempotencyKey, requestId, correlationId = randomUUID(), body, method } = asked
    const refuse = (what: Problem): Answered => renderProblem(what, correlationId, context.meter)
    try {
      const { pathname, searchParams } = new URL(asked.path, 'http://in-process')
      const found = find(method, pathname)
      if (found === undefined) return refuse(problem('not-found', `there is no route ${method} ${pathname}`))
      const bytes = body === undefined ? undefined : Buffer.from(body)
      return await serveRoute(context, found.route, {
        params: found.params,
        query: Object.fromEntries(searchParams),
        body: bodyOf(found.route, body, bytes),
        grant,
        correlationId,
        wantsLines: asked.accept === 'application/x-ndjson',
        gone: () => gone,
        request: `${method} ${asked.path}`,
        idempotencyKey,
        requestId,
        traceparent: traceParentOf(asked.traceparent),
        bytes: idempotencyKey === undefined ? undefined : bytes,
      })
    } catch (error) {
      return refuse(problemOfError(error as Error, context.limits))
    }
  }

  /** Rejects as soon as the caller gives up. A claim whose answer comes later goes back to the queue. */
  const send = (asked: HttpRequest, isEndedByClose: boolean): Promise<Answered> => {
    const { signal } = asked
    if (closed !== undefined || (isEndedByClose && closing.signal.aborted)) return Promise.reject(closedError())
    if (signal?.aborted === true) return Promise.reject(abortedError(signal))
    const gone = new AbortController()
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        gone.abort()
        reject(signal?.aborted === true ? abortedError(signal) : closedError())
      }
      const forget = [signal, isEndedByClose ? closing.signal : undefined].map((each) => (each === undefined ? undefined : onAbort(each, giveUp)))
      const sent = answer(asked, gone.signal).then((answered) => {
        forget.forEach((each) => each?.())
        underWay.delete(sent)
        if (gone.signal.aborted) answered.undelivered?.()
        resolve(answered)
      })
      underWay.add(sent)
    })
  }

  const request = async (asked: HttpRequest): Promise<HttpAnswer> => {
    const sent = await send(asked, (asked.waitMs ?? 0) > 0)
    return { status: sent.status, headers: headersOf(sent), text: typeof sent.text === 'string' ? sent.text : await textOf(sent.text) }
  }
  /** Its caller, and the end of the client, break a stream off as they break off a connection. */
  const breakable = (text: Readable, signal: AbortSignal | undefined): Readable => {
    const breakOff = (): void => void text.destroy(signal?.aborted === true ? abortedError(signal) : closedError())
    const signals = [closing.signal, ...(signal === undefined ? [] : [signal])]
    const forget = signals.map((each) => onAbort(each, breakOff))
    if (signals.some(({ aborted }) => aborted)) breakOff()
    // Whoever reads it gets the error. If nobody does yet, it must not end the program.
    return text.on('error', () => undefined).once('close', () => forget.forEach((each) => each()))
  }

  const stream = async (asked: HttpRequest): Promise<HttpStream> => {
    const sent = await send(asked, true)
    const text = typeof sent.text === 'string' ? sent.text : breakable(sent.text, asked.signal)
    return { statusCode: sent.status, headers: headersOf(sent), body: { [Symbol.asyncIterator]: () => chunksOf(text), text: () => textOf(text) } }
  }
  const close = async (): Promise<void> => {
    closing.abort()
    while (underWay.size > 0) await Promise.all(underWay)
    await release()
  }
  return { request, stream, stopWaiting: () => closing.abort(), close: () => (closed ??= close()) }
}

const headersOf = ({ retryAfterSeconds }: Answered): HttpAnswer['headers'] => (retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) })

const chunksOf = async function* (text: string | Readable): AsyncGenerator<Buffer, void> {
  if (typeof text === 'string') yield Buffer.from(text)
  else for await (const chunk of text) yield Buffer.from(chunk as Buffer | string)
}

const textOf = async (text: string | Readable): Promise<string> => {
  if (typeof text === 'string') return text
  const chunks: Array<Buffer> = []
  for await (const chunk of chunksOf(text)) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

/** The client printed the body, so it is JSON, but a server might still refuse its keys or numbers. */
const bodyOf = ({ body: input }: Route, text: string | undefined, bytes: Buffer | undefined): unknown => {
  if (text === undefined || bytes === undefined) return undefined
  const read = input?.read?.(bytes)
  if (read !== undefined) return read
  const exact = infiniteForInexact(text)
  return /"(?:__proto__|prototype)"/.test(exact) ? JSON.parse(exact, refuseKeys) : JSON.parse(exact)
}

const refuseKeys = (key: string, value: unknown): unknown => {
  const isPrototype = key === '__proto__' || (key === 'constructor' && typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype'))
  if (!isPrototype) return value
  const message = 'the keys __proto__ and constructor.prototype are refused at any depth'
  throw new Refused(problem('invalid', message, { errors: [{ path: '(body)', message }] }))
}
