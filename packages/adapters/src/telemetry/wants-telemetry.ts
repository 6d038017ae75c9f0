/** Whether OpenTelemetry's own variables request telemetry (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/). */

export interface WantedSignals {
  readonly traces: boolean
  readonly metrics: boolean
}

type Environment = Readonly<Record<string, string | undefined>>

/** `undefined` unless there is an endpoint. The SDK is not even loaded then. */
export const wantedSignals = (env: Environment): WantedSignals | undefined => {
  if (env.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return undefined
  const wants = (signal: 'TRACES' | 'METRICS'): boolean =>
    (isGiven(env.OTEL_EXPORTER_OTLP_ENDPOINT) || isGiven(env[`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`])) && env[`OTEL_${signal}_EXPORTER`] !== 'none'
  const wanted = { traces: wants('TRACES'), metrics: wants('METRICS') }
  return wanted.traces || wanted.metrics ? wanted : undefined
}

/** An empty variable counts as unset. */
const isGiven = (value: string | undefined): boolean => value !== undefined && value !== ''
