/** Traces. */
import type { Plant } from '../plant.js'

const traces = ['test/telemetry/trace.test.ts']

export const telemetryPlants: ReadonlyArray<Plant> = [
  {
    title: 'telemetry: a spawned task loses the trace of its parent',
    file: 'packages/core/src/decide/spawn.ts',
    find: '  ...(traceparent === undefined ? {} : { traceparent }),\n',
    replace: '',
    killedBy: traces,
  },
  {
    title: 'telemetry: the header overrides what a task says',
    file: 'packages/adapters/src/http/handle/tasks.ts',
    find: ' || body.traceparent !== undefined',
    replace: '',
    killedBy: traces,
  },
  {
    title: 'telemetry: the span of a handler has no link',
    file: 'packages/client/src/worker/traced-handler.ts',
    find: 'links: [{ context }]',
    replace: 'links: []',
    killedBy: traces,
  },
  {
    title: 'metrics: an open breaker is left out if many others come before it by name',
    file: 'packages/adapters/src/http/metrics/metrics.ts',
    find: 'breakerValue[state]] as const).sort(([, a], [, b]) => b - a)',
    replace: 'breakerValue[state]] as const)',
    killedBy: ['test/http/server.test.ts'],
  },
  {
    title: 'metrics: claims of other servers are not followed',
    file: 'packages/adapters/src/http/metrics/meter.ts',
    find: '        else for (const event of committed.events) if (!isUnreadable(event)) meter.follow(event)\n',
    replace: '',
    killedBy: ['test/http/server.test.ts'],
  },
  {
    title: 'metrics: an append is counted as ok whatever came of it',
    file: 'packages/adapters/src/http/metrics/meter.ts',
    find: "E.isRight(result) ? 'ok' : outcomeOf[result.left._tag]",
    replace: "'ok'",
    killedBy: ['test/engine/appends-observed.test.ts'],
  },
  {
    title: 'metrics: a queue that could not be opened has no series',
    file: 'packages/adapters/src/http/metrics/metrics.ts',
    find: '    for (const { queue } of daybook.refused()) available.set({ queue }, 0)\n',
    replace: '',
    killedBy: ['test/http/unread-queues.test.ts'],
    named: 'metrics:',
  },
  {
    title: 'metrics: a series begins with its first failure',
    file: 'packages/adapters/src/http/metrics/meter.ts',
    find: 'new Map(keys.map((key) => [key, 0]))',
    replace: 'new Map(keys.slice(keys.length).map((key) => [key, 0]))',
    killedBy: ['test/http/server.test.ts'],
    named: 'metrics: what alerts count',
  },
  {
    title: 'metrics: refused requests for a WebSocket are not counted',
    file: 'packages/adapters/src/http/websocket/server.ts',
    find: '      meter.refusedBy(what.code)\n',
    replace: '',
    killedBy: ['test/http/server.test.ts'],
    named: 'whoever refused them',
  },
  {
    title: 'telemetry: without a provider of traces, tasks get a traceparent of zeros',
    file: 'packages/adapters/src/telemetry/otlp.ts',
    find: 'isSpanContextValid(own) ? textOf(own) : undefined',
    replace: 'own !== undefined ? textOf(own) : undefined',
    killedBy: traces,
    named: 'metrics and no traces',
  },
  {
    title: 'telemetry: a caller that went away seems to have had its answer',
    file: 'packages/adapters/src/http/server.ts',
    find: 'span.end(reply.raw.headersSent ? reply.statusCode : undefined, ',
    replace: 'span.end(reply.statusCode, ',
    killedBy: traces,
    named: 'went away',
  },
  {
    title: 'telemetry: an append is not found by its request',
    file: 'packages/adapters/src/telemetry/otlp.ts',
    find: 'inFlight.set(key, same.add(own))',
    replace: '',
    killedBy: traces,
  },
  {
    title: 'telemetry: nobody is told of a collector that takes nothing',
    file: 'packages/adapters/src/telemetry/told-exporter.ts',
    find: 'if (result.code !== 0 && !isRefused) warn',
    replace: 'if (result.code === -1 && !isRefused) warn',
    killedBy: traces,
    named: 'a collector that does not take',
  },
]
