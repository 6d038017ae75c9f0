/**
 * OpenTelemetry, if the program uses it. Its API is loaded once something is registered with it: to load it takes longer than to send a request. All
 * copies of that package share what is registered, whichever copy is loaded.
 */
import { createRequire } from 'node:module'
import type * as OpenTelemetry from '@opentelemetry/api'

export type Api = typeof OpenTelemetry

/** Where version 1 of the package keeps what is registered. */
const registry = Symbol.for('opentelemetry.js.api.1')

let loaded: Api | 'missing' | undefined

const load = (): Api | 'missing' => {
  try {
    return createRequire(import.meta.url)('@opentelemetry/api') as Api
  } catch {
    // It is an optional peer dependency.
    return 'missing'
  }
}

/** `undefined` if nothing is registered yet, or the package is not there. */
export const openTelemetry = (): Api | undefined => {
  if (loaded === undefined && !(registry in globalThis)) return undefined
  loaded ??= load()
  return loaded === 'missing' ? undefined : loaded
}

const hex2 = (flags: number): string => flags.toString(16).padStart(2, '0')

/** The `traceparent` of the span that is active now; `undefined` if there is none. */
export const activeTraceParent = (): string | undefined => {
  const api = openTelemetry()
  const span = api?.trace.getActiveSpan()?.spanContext()
  return api === undefined || span === undefined || !api.isSpanContextValid(span) ? undefined : `00-${span.traceId}-${span.spanId}-${hex2(span.traceFlags)}`
}

/** The task, with the active span as its origin unless it names one. */
export const withActiveTrace = (task: unknown): unknown => {
  const traceparent = activeTraceParent()
  if (traceparent === undefined || typeof task !== 'object' || task === null || 'traceparent' in task) return task
  // The members as JSON has them: the task may be an object of the caller's own class.
  return { ...('toJSON' in task ? (JSON.parse(JSON.stringify(task)) as object) : task), traceparent }
}
