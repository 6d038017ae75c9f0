/**
 * Sends traces and metrics to an OpenTelemetry collector, as OTLP over HTTP in protobuf. This file loads the SDK, so only `startTelemetry` imports
 * it. The server has its own provider: it is not registered for the whole process, which may have a provider of the program already.
 */
import { type Attributes, isSpanContextValid, type Link, ROOT_CONTEXT, type Span, type SpanContext, SpanKind, SpanStatusCode, trace, type Tracer } from '@opentelemetry/api'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { defaultResource, detectResources, envDetector, type Resource, resourceFromAttributes } from '@opentelemetry/resources'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { BasicTracerProvider, BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node'
import { daybookVersion } from '@daybook/core/common'
import * as E from 'fp-ts/lib/Either.js'
import type { EventToAppend } from '../store/index.js'
import { producerOf } from './otlp-metrics.js'
import type { RequestAsked, Telemetry } from './telemetry.js'
import { toldExporter } from './told-exporter.js'
import type { WantedSignals } from './wants-telemetry.js'

/** `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` override these. */
const resourceNamed = (service: string): Resource =>
  defaultResource()
    .merge(resourceFromAttributes({ 'service.name': service, 'service.version': daybookVersion }))
    .merge(detectResources({ detectors: [envDetector] }))

/** Data that could not be sent by this time after the end are dropped. In milliseconds. */
const closeMs = 3_000

const inTime = async (work: Promise<unknown>): Promise<void> => {
  let timer: NodeJS.Timeout | undefined
  await Promise.race([work.catch(() => undefined), new Promise((resolve) => (timer = setTimeout(resolve, closeMs)))])
  clearTimeout(timer)
}

type Warn = (message: string) => void

const processorOf = (warn: Warn): BatchSpanProcessor => new BatchSpanProcessor(toldExporter(new OTLPTraceExporter(), 'traces', warn))

export const openOtlp = (wanted: WantedSignals, warn: Warn): Telemetry => {
  const startedAt = Date.now()
  const resource = resourceNamed('daybook')
  const traces = wanted.traces ? new BasicTracerProvider({ resource, spanProcessors: [processorOf(warn)] }) : undefined
  let metrics: MeterProvider | undefined
  return {
    ...spansOf((traces ?? trace).getTracer('daybook', daybookVersion)),
    export: (read) => {
      if (!wanted.metrics) return
      const reader = new PeriodicExportingMetricReader({
        exporter: toldExporter(new OTLPMetricExporter(), 'metrics', warn),
        metricProducers: [producerOf(resource, startedAt, read)],
        ...intervalOf(process.env.OTEL_METRIC_EXPORT_INTERVAL),
      })
      metrics = new MeterProvider({ resource, readers: [reader] })
    },
    close: () => inTime(Promise.all([traces?.shutdown(), metrics?.shutdown()])),
  }
}

/** The SDK for Node reads this variable, but its parts do not. */
const intervalOf = (text: string | undefined): { exportIntervalMillis?: number; exportTimeoutMillis?: number } => {
  const exportIntervalMillis = Number(text)
  return exportIntervalMillis > 0 ? { exportIntervalMillis, exportTimeoutMillis: Math.min(30_000, exportIntervalMillis) } : {}
}

/** The request of a command is found by its correlation id, which is in the metadata of each event. */
const correlation = /"\$correlationId":"((?:[^"\\]|\\.)*)"/
/** The largest number of requests to which an append is linked. Beyond it, it is linked to the first ones. */
const linksMax = 32

const spansOf = (tracer: Tracer): Pick<Telemetry, 'request' | 'append'> => {
  /** By correlation id as it is in metadata. Several requests may have the same, for example all of one job. */
  const inFlight = new Map<string, Set<SpanContext>>()

  const request = ({ method, route, queue, correlationId, traceparent }: RequestAsked): ReturnType<Telemetry['request']> => {
    const attributes: Attributes = { 'http.request.method': method, 'http.route': route, 'daybook.correlation_id': correlationId }
    if (queue !== undefined) attributes['daybook.queue'] = queue
    const span = tracer.startSpan(`${method} ${route}`, { kind: SpanKind.SERVER, attributes }, contextOf(traceparent))
    const own = span.spanContext()
    const key = JSON.stringify(correlationId).slice(1, -1)
    const same = inFlight.get(key) ?? new Set()
    inFlight.set(key, same.add(own))
    return {
      // Without a provider of traces, the ids of a span are zeros.
      traceparent: isSpanContextValid(own) ? textOf(own) : undefined,
      end: (status, isGone) => {
        same.delete(own)
        if (same.size === 0 && inFlight.get(key) === same) inFlight.delete(key)
        if (status !== undefined) span.setAttribute('http.response.status_code', status)
        if (isGone) span.setAttribute('daybook.gone', true)
        if (status !== undefined && status >= 500) fail(span, String(status))
        span.end()
      },
    }
  }

  const requestsOf = (events: ReadonlyArray<EventToAppend>): ReadonlyArray<SpanContext> => {
    const found = new Set<SpanContext>()
    for (const { metadata } of events) {
      for (const context of inFlight.get(correlation.exec(metadata)?.[1] ?? '') ?? []) found.add(context)
      if (found.size >= linksMax) break
    }
    return [...found].slice(0, linksMax)
  }

  const append: Telemetry['append'] = (stream, events) => {
    const requests = requestsOf(events)
    const [first] = requests
    const parent = first !== undefined && requests.length === 1 ? trace.setSpanContext(ROOT_CONTEXT, first) : ROOT_CONTEXT
    const links: Array<Link> = requests.length > 1 ? requests.map((context) => ({ context })) : []
    const attributes = { 'db.operation.name': 'append', 'db.collection.name': stream, 'db.operation.batch.size': events.length }
    const span = tracer.startSpan('append', { kind: SpanKind.CLIENT, attributes, links }, parent)
    return (result) => {
      // A conflict is no failure, because the engine decides again.
      if (E.isLeft(result)) {
        if (result.left._tag === 'WrongExpectedRevision') span.setAttribute('daybook.append.outcome', 'conflict')
        else fail(span, result.left._tag)
      }
      span.end()
    }
  }
  return { request, append }
}

const fail = (span: Span, type: string): void => {
  span.setAttribute('error.type', type)
  span.setStatus({ code: SpanStatusCode.ERROR })
}

/** The context of a valid `traceparent`. */
const contextOf = (traceparent: string | undefined): typeof ROOT_CONTEXT => {
  const [, traceId, spanId, flags] = traceparent?.split('-') ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return ROOT_CONTEXT
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true })
}

const textOf = ({ traceId, spanId, traceFlags }: SpanContext): string => `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`

/** For a separate program such as `daybook work`: the provider of the whole process. Returns a function that sends the rest. */
export const registerProvider = (service: string, warn: Warn): (() => Promise<void>) => {
  const provider = new NodeTracerProvider({ resource: resourceNamed(service), spanProcessors: [processorOf(warn)] })
  provider.register()
  return () => inTime(provider.shutdown())
}
