/** A receiver of OTLP over HTTP in protobuf, as a collector is one. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { numberIn, stringIn, type Message, messageOf, partsIn } from './protobuf.js'

export interface ReceivedSpan {
  readonly service: string
  readonly name: string
  readonly kind: 'internal' | 'server' | 'client' | 'producer' | 'consumer'
  readonly traceId: string
  readonly spanId: string
  readonly parentId: string
  readonly links: ReadonlyArray<{ readonly traceId: string; readonly spanId: string }>
  readonly attributes: Readonly<Record<string, string | number | undefined>>
  readonly isError: boolean
}

export interface ReceivedMetric {
  readonly name: string
  readonly unit: string
  readonly kind: 'gauge' | 'sum' | 'histogram'
  /** Of the points of gauges and sums their values, of those of histograms their counts. */
  readonly points: ReadonlyArray<{ readonly attributes: Readonly<Record<string, unknown>>; readonly value: number; readonly buckets: ReadonlyArray<number> }>
}

export interface Receiver {
  readonly url: string
  readonly spans: Array<ReceivedSpan>
  readonly metrics: Array<ReceivedMetric>
  readonly close: () => Promise<void>
}

export const startReceiver = async (): Promise<Receiver> => {
  const spans: Array<ReceivedSpan> = []
  const metrics: Array<ReceivedMetric> = []
  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk)).on('end', () => {
      const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(Buffer.concat(chunks)) : Buffer.concat(chunks)
      if (request.headers['content-type'] !== 'application/x-protobuf') return response.writeHead(415).end()
      if (request.url === '/v1/traces') spans.push(...spansIn(messageOf(body)))
      else if (request.url === '/v1/metrics') metrics.push(...metricsIn(messageOf(body)))
      else return response.writeHead(404).end()
      return response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    metrics,
    close: () => new Promise((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    }),
  }
}

// The numbers of the fields are those of opentelemetry-proto 1.x.

const attributesIn = (message: Message, field: number): Readonly<Record<string, string | number | undefined>> =>
  Object.fromEntries(partsIn(message, field).map((pair) => {
    const [value = new Map() as Message] = partsIn(pair, 2)
    return [stringIn(pair, 1), value.has(1) ? stringIn(value, 1) : numberIn(value, value.has(2) ? 2 : 3)]
  }))

const hexIn = (message: Message, field: number): string => {
  const value = message.get(field)?.[0]
  return Buffer.isBuffer(value) ? value.toString('hex') : ''
}

const kinds = ['internal', 'internal', 'server', 'client', 'producer', 'consumer'] as const

const spansIn = (request: Message): ReadonlyArray<ReceivedSpan> =>
  partsIn(request, 1).flatMap((ofResource) => {
    const service = String(partsIn(ofResource, 1).map((resource) => attributesIn(resource, 1)['service.name'])[0])
    return partsIn(ofResource, 2).flatMap((ofScope) =>
      partsIn(ofScope, 2).map((span): ReceivedSpan => ({
        service,
        name: stringIn(span, 5),
        kind: kinds[numberIn(span, 6)] ?? 'internal',
        traceId: hexIn(span, 1),
        spanId: hexIn(span, 2),
        parentId: hexIn(span, 4),
        links: partsIn(span, 13).map((link) => ({ traceId: hexIn(link, 1), spanId: hexIn(link, 2) })),
        attributes: attributesIn(span, 9),
        isError: partsIn(span, 15).some((status) => numberIn(status, 3) === 2),
      })),
    )
  })

const metricsIn = (request: Message): ReadonlyArray<ReceivedMetric> =>
  partsIn(request, 1).flatMap((ofResource) =>
    partsIn(ofResource, 2).flatMap((ofScope) =>
      partsIn(ofScope, 2).map((metric): ReceivedMetric => {
        const kind = metric.has(5) ? 'gauge' : metric.has(7) ? 'sum' : 'histogram'
        const [data = new Map() as Message] = partsIn(metric, { gauge: 5, sum: 7, histogram: 9 }[kind])
        return {
          name: stringIn(metric, 1),
          unit: stringIn(metric, 3),
          kind,
          points: partsIn(data, 1).map((point) =>
            kind === 'histogram'
              ? { attributes: attributesIn(point, 9), value: Number(fixedIn(point, 4)[0] ?? 0n), buckets: fixedIn(point, 6).map(Number) }
              : { attributes: attributesIn(point, 7), value: doubleIn(point, 4), buckets: [] },
          ),
        }
      }),
    ),
  )

const bytesIn = (message: Message, field: number): Buffer => Buffer.concat((message.get(field) ?? []).filter(Buffer.isBuffer))

const fixedIn = (message: Message, field: number): ReadonlyArray<bigint> => {
  const bytes = bytesIn(message, field)
  return Array.from({ length: bytes.length / 8 }, (_, i) => bytes.readBigUInt64LE(8 * i))
}

const doubleIn = (message: Message, field: number): number => {
  const bytes = bytesIn(message, field)
  return bytes.length === 8 ? bytes.readDoubleLE() : Number.NaN
}
