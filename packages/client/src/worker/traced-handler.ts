/** Runs each handler in a span, if the program has OpenTelemetry: a consumer span, by the semantic conventions for messaging. */
import { traceParentOf } from '@daybook/core/common'
import type { Context, Link, Span, SpanContext } from '@opentelemetry/api'
import { isPromise, promiseOf } from '../handles/is-promise.js'
import { type Api, openTelemetry } from '../transport/tracing.js'
import { type Handler, Park, Release } from './handler.js'
import { failureOf } from './outcome.js'

/** The handler with its span. OpenTelemetry is looked up for each task, because the program may register its provider later. */
export const tracedHandler =
  (handler: Handler, agentId: string): Handler =>
  (task, context) => {
    const api = openTelemetry()
    if (api === undefined) return handler(task, context)
    const origin = originOf(api, task.traceparent)
    const attributes = {
      'messaging.system': 'daybook',
      'messaging.operation.type': 'process',
      'messaging.operation.name': 'process',
      'messaging.destination.name': task.type,
      'messaging.message.id': task.id,
      'messaging.client.id': agentId,
      'daybook.task.attempt': task.attempt,
    }
    const tracer = api.trace.getTracer('daybook')
    return tracer.startActiveSpan(`process ${task.type}`, { kind: api.SpanKind.CONSUMER, attributes, links: origin.links }, origin.parent, (span) => {
      try {
        const result = handler(task, context)
        if (!isPromise(result)) {
          span.end()
          return result
        }
        return promiseOf(result).then(
          (value) => {
            span.end()
            return value
          },
          (error: unknown) => {
            failed(api, span, error)
            throw error
          },
        )
      } catch (error) {
        failed(api, span, error)
        throw error
      }
    })
  }

/** A span of the trace in which the task was enqueued, linked to the span that enqueued it. Without a `traceparent`: a new trace. */
const originOf = ({ ROOT_CONTEXT, trace }: Api, traceparent: string | undefined): { readonly parent: Context; readonly links: Array<Link> } => {
  const [, traceId, spanId, flags] = traceParentOf(traceparent)?.split('-') ?? []
  if (traceId === undefined || spanId === undefined) return { parent: ROOT_CONTEXT, links: [] }
  const context: SpanContext = { traceId, spanId, traceFlags: Number.parseInt(flags as string, 16), isRemote: true }
  return { parent: trace.setSpanContext(ROOT_CONTEXT, context), links: [{ context }] }
}

/** A release and a parking are thrown, but are no errors. */
const failed = ({ SpanStatusCode }: Api, span: Span, error: unknown): void => {
  if (!(error instanceof Park || error instanceof Release)) {
    const name = error instanceof Error ? error.name : '_OTHER'
    const { message } = failureOf(error)
    span.setAttribute('error.type', name)
    span.recordException(error instanceof Error ? error : { name, message })
    span.setStatus({ code: SpanStatusCode.ERROR, message })
  }
  span.end()
}
