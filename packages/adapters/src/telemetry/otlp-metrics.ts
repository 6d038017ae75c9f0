/** The metrics of `/metrics` in OpenTelemetry's form, under the same names. */
import { ValueType } from '@opentelemetry/api'
import type { Resource } from '@opentelemetry/resources'
import { AggregationTemporality, type CollectionResult, type DataPoint, DataPointType, type Histogram, type MetricData, type MetricProducer } from '@opentelemetry/sdk-metrics'
import type { MetricSnapshot } from './telemetry.js'

type HrTime = DataPoint<number>['startTime']

const hrTimeOf = (ms: number): HrTime => [Math.floor(ms / 1_000), Math.round((ms % 1_000) * 1e6)]

/** Counters and histograms count since `startedAt` (milliseconds since 1970). */
export const producerOf = (resource: Resource, startedAt: number, read: () => Promise<ReadonlyArray<MetricSnapshot>>): MetricProducer => ({
  collect: async (): Promise<CollectionResult> => {
    const [startTime, endTime] = [hrTimeOf(startedAt), hrTimeOf(Date.now())]
    const metrics = (await read()).flatMap((metric) => dataOf(metric, startTime, endTime) ?? [])
    return { resourceMetrics: { resource, scopeMetrics: [{ scope: { name: 'daybook' }, metrics }] }, errors: [] }
  },
})

const unitOf = (name: string): string => (/_seconds(?:_total)?$/.test(name) ? 's' : /_bytes(?:_total)?$/.test(name) ? 'By' : '')

const dataOf = ({ name, help, type, values }: MetricSnapshot, startTime: HrTime, endTime: HrTime): MetricData | undefined => {
  const descriptor = { name, description: help, unit: unitOf(name), valueType: ValueType.DOUBLE }
  const points = (): Array<DataPoint<number>> => values.map(({ value, labels }) => ({ startTime, endTime, attributes: labels, value }))
  const common = { descriptor, aggregationTemporality: AggregationTemporality.CUMULATIVE }
  switch (type) {
    case 'counter':
      return { ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints: points() }
    case 'gauge':
      return { ...common, dataPointType: DataPointType.GAUGE, dataPoints: points() }
    case 'histogram':
      return { ...common, dataPointType: DataPointType.HISTOGRAM, dataPoints: histogramPoints({ name, values }, startTime, endTime) }
    default:
      return undefined
  }
}

interface Series {
  readonly attributes: Readonly<Record<string, string | number>>
  readonly boundaries: Array<number>
  readonly cumulative: Array<number>
  sum: number
  count: number
}

const histogramPoints = ({ name, values }: Pick<MetricSnapshot, 'name' | 'values'>, startTime: HrTime, endTime: HrTime): Array<DataPoint<Histogram>> => {
  const all = new Map<string, Series>()
  for (const { value, labels, metricName } of values) {
    const { le, ...others } = labels
    const key = JSON.stringify(others)
    const series = all.get(key) ?? { attributes: others as Series['attributes'], boundaries: [], cumulative: [], sum: 0, count: 0 }
    all.set(key, series)
    if (metricName === `${name}_sum`) series.sum = value
    else if (metricName === `${name}_count`) series.count = value
    else if (le !== '+Inf') {
      series.boundaries.push(Number(le))
      series.cumulative.push(value)
    }
  }
  return [...all.values()].map(({ attributes, boundaries, cumulative, sum, count }) => {
    const counts = [...cumulative, count].map((below, i, each) => below - (each[i - 1] ?? 0))
    return { startTime, endTime, attributes, value: { buckets: { boundaries, counts }, sum, count } }
  })
}
