export { startTelemetry, startTracing } from './start-telemetry.js'
export type { MetricSnapshot, Telemetry } from './telemetry.js'
