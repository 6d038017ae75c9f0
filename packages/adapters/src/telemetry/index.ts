export { startTelemetry, startTracing } from './start-telemetry.js'
export type { MetricSnapshot, RequestSpan, Telemetry } from './telemetry.js'
