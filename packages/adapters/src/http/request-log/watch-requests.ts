/** Tells the log of requests of each that Fastify takes. */
import { QueueName, traceParentOf } from '@daybook/core'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ProblemCode } from '../problem.js'
import { noRoute, type RequestLog } from './request-log.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** The name of the token, once it is known. */
    actor: string | undefined
    /** Of the problem that it is answered with. */
    problemCode: ProblemCode | undefined
  }
}

const routes = new Map<string, string>()

/** The path of its route with its `{names}`. */
export const routeOf = ({ routeOptions: { url } }: FastifyRequest): string => {
  if (url === undefined) return noRoute
  const known = routes.get(url) ?? url.replace(/:(\w+)/g, '{$1}')
  routes.set(url, known)
  return known
}

/** Without a log, requests cost nothing more. */
export const watchRequests = (app: FastifyInstance, log: RequestLog | undefined): ((request: FastifyRequest, reply: FastifyReply) => void) => {
  app.decorateRequest('actor', undefined)
  app.decorateRequest('problemCode', undefined)
  if (log === undefined) return () => undefined
  const watch = (request: FastifyRequest, reply: FastifyReply): void => {
    const began = performance.now()
    const { raw } = reply
    raw.once('close', () =>
      log.note({
        method: request.method,
        route: routeOf(request),
        status: raw.headersSent ? reply.statusCode : undefined,
        gone: !raw.writableFinished,
        ms: performance.now() - began,
        waitMs: waitMsOf(request),
        correlationId: request.id,
        code: request.problemCode,
        queue: queueOf(request),
        actor: request.actor,
        remote: request.ip,
        traceId: traceIdOf(request),
      }))
  }
  app.addHook('onRequest', (request, reply, done) => {
    watch(request, reply)
    done()
  })
  return watch
}

/** A queue's name, if it is one: whatever else stands there is not written down. */
const queueOf = ({ params }: FastifyRequest): string | undefined => {
  const { queue } = (params ?? {}) as { readonly queue?: string }
  return QueueName.is(queue) ? queue : undefined
}

const traceIdOf = ({ headers: { traceparent } }: FastifyRequest): string | undefined => (typeof traceparent === 'string' ? traceParentOf(traceparent)?.split('-')[1] : undefined)

/** Claims wait for tasks, and results for their ends. */
export const waitMsOf = ({ body, query }: FastifyRequest): number => {
  const seconds = [body, query].map((part) => Number((part as { readonly wait?: unknown } | null | undefined)?.wait ?? 0))
  return Math.max(0, ...seconds.filter(Number.isFinite)) * 1_000
}
