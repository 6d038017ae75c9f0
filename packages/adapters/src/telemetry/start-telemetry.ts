/** Starts what OpenTelemetry's variables ask for, and loads its SDK only then. */
import type { Telemetry } from './telemetry.js'
import { wantedSignals } from './wants-telemetry.js'

type Environment = Parameters<typeof wantedSignals>[0]

/** Of a server. `undefined` if nothing is asked for. */
export const startTelemetry = async (env: Environment): Promise<Telemetry | undefined> => {
  const wanted = wantedSignals(env)
  return wanted === undefined ? undefined : (await import('./otlp.js')).openOtlp(wanted)
}

/** Of a program that runs handlers: their spans are exported. Returns what sends the rest at the end. */
export const startTracing = async (service: string, env: Environment): Promise<() => Promise<void>> =>
  wantedSignals(env)?.traces === true ? (await import('./otlp.js')).registerProvider(service) : async () => undefined
