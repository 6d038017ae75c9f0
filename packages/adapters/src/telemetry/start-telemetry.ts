/** Starts what OpenTelemetry's variables request, and loads its SDK only then. */
import type { Telemetry } from './telemetry.js'
import { wantedSignals } from './wants-telemetry.js'

type Environment = Parameters<typeof wantedSignals>[0]

/** The telemetry of a server; `undefined` if nothing is requested. `warn`: told when a collector does not take it. */
export const startTelemetry = async (env: Environment, warn: (message: string) => void): Promise<Telemetry | undefined> => {
  const wanted = wantedSignals(env)
  return wanted === undefined ? undefined : (await import('./otlp.js')).openOtlp(wanted, warn)
}

/** The tracing of a program that runs handlers, whose spans are exported. Returns a function that sends the rest at the end. */
export const startTracing = async (service: string, env: Environment, warn: (message: string) => void): Promise<() => Promise<void>> =>
  wantedSignals(env)?.traces === true ? (await import('./otlp.js')).registerProvider(service, warn) : async () => undefined
