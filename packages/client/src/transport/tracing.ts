/**
 * OpenTelemetry, if the program has `@opentelemetry/api`. It is looked up once, and without it nothing here costs anything. All copies of that
 * package share what is registered, whichever copy is loaded.
 */
import { createRequire } from 'node:module'
import type * as OpenTelemetry from '@opentelemetry/api'

const load = (): typeof OpenTelemetry | undefined => {
  try {
    return createRequire(import.meta.url)('@opentelemetry/api') as typeof OpenTelemetry
  } catch {
    return undefined
  }
}

/** `undefined` if the program does not have it. */
export const openTelemetry = load()

const hex2 = (flags: number): string => flags.toString(16).padStart(2, '0')

/** The `traceparent` of the span that is active now; `undefined` if there is none. */
export const activeTraceParent: () => string | undefined =
  openTelemetry === undefined
    ? () => undefined
    : () => {
        const span = openTelemetry.trace.getActiveSpan()?.spanContext()
        return span === undefined || !openTelemetry.isSpanContextValid(span) ? undefined : `00-${span.traceId}-${span.spanId}-${hex2(span.traceFlags)}`
      }

/** The task, with the active span as its origin unless it names one. */
export const withActiveTrace = (task: unknown): unknown => {
  const traceparent = activeTraceParent()
  if (traceparent === undefined || typeof task !== 'object' || task === null || 'traceparent' in task) return task
  // The members as JSON has them: the task may be an object of the caller's own class.
  return { ...('toJSON' in task ? (JSON.parse(JSON.stringify(task)) as object) : task), traceparent }
}
