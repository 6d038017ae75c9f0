/** Prometheus metrics. Counters come from committed events, gauges are read at each scrape. Ids are never labels. */
import { activeAgentsOf, alertsOf, breakersOf, type BreakerView, depthOf, type EventType, failedAttemptsOf, headOf, type QueueState, slowedTypesOf } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client'
import type { Daybook, EngineStatus } from '../../engine/index.js'
import { secondsSince } from '../../iso-time.js'
import type { MetricSnapshot } from '../../telemetry/index.js'
import type { ServerParts } from '../server-parts.js'
import { addLoopDelays } from './loop-delays.js'
import type { Histogram, Meter } from './meter.js'

/** Producers choose the task types, so their number is unbounded. Types beyond this many count as `other`. */
const typesMax = 100

const outcomes: Readonly<Record<string, EventType>> = {
  completed: 'Completed',
  incomplete: 'MarkedIncomplete',
  failed: 'Failed',
  expired: 'ClaimExpired',
  released: 'Released',
  returned: 'ClaimReturned',
  revoked: 'ClaimRevoked',
  parked: 'TaskParked',
  'rate-limited': 'RateLimited',
  cancelled: 'Cancelled',
  discarded: 'Discarded',
}
const breakerValue = { closed: 0, 'half-open': 1, open: 2 } as const

/** All metrics of this server, with their present values. */
export interface Metrics {
  /** In Prometheus' text format. */
  readonly text: () => Promise<string>
  /** For exporters in another format. */
  readonly list: () => Promise<ReadonlyArray<MetricSnapshot>>
}

/** Adds metrics to a registry. Each is cleared and filled anew at each scrape. */
const addersTo = (registers: Array<Registry>) => {
  const named = (name: string, help: string, labels: ReadonlyArray<string>) => ({ name: `daybook_${name}`, help, labelNames: [...labels], registers })
  const counter = (name: string, help: string, labels: ReadonlyArray<string>, fill: (add: Add) => void): void => {
    new Counter({
      ...named(name, help, labels),
      collect() {
        this.reset()
        fill((given, value) => this.inc({ ...given }, value))
      },
    })
  }
  const gauge = (name: string, help: string, labels: ReadonlyArray<string>, fill: (gauge: Gauge) => void): void => {
    new Gauge({
      ...named(name, help, labels),
      collect() {
        this.reset()
        fill(this)
      },
    })
  }
  /** A gauge with one label. A value that is `undefined` is left out. */
  const each = (name: string, help: string, label: string, values: () => ReadonlyArray<readonly [string, number | undefined]>): void =>
    gauge(name, help, [label], (all) => {
      for (const [of, value] of values()) if (value !== undefined) all.set({ [label]: of }, value)
    })
  return { counter, gauge, each }
}
type Adders = ReturnType<typeof addersTo>

const addCounters = ({ counter }: Adders, daybook: Daybook, meter: Meter, webhooks: ServerParts['webhooks']): void => {
  const ofEvent = (name: string, help: string, type: EventType): void =>
    counter(name, help, ['queue'], (add) => {
      for (const [queue, { events }] of meter.queues) add({ queue }, events.get(type) ?? 0)
    })
  ofEvent('enqueued_total', 'Tasks taken in.', 'TaskEnqueued')
  ofEvent('imported_total', 'Tasks taken over with their history.', 'TaskImported')
  ofEvent('claims_total', 'Tasks leased.', 'Claimed')
  ofEvent('lease_expirations_total', 'Leases that ended by themselves.', 'ClaimExpired')
  counter('completions_total', 'How claims and tasks ended.', ['queue', 'outcome'], (add) => {
    for (const [queue, { events }] of meter.queues) {
      for (const [outcome, type] of Object.entries(outcomes)) add({ queue, outcome }, events.get(type) ?? 0)
    }
  })
  counter('retries_total', 'Failed attempts that are retried.', ['queue', 'reason'], (add) => {
    for (const [queue, { retries }] of meter.queues) for (const [reason, count] of retries) add({ queue, reason }, count)
  })
  counter('dead_letters_total', 'Tasks that became dead letters.', ['queue', 'reason'], (add) => {
    for (const [queue, { deadLetters }] of meter.queues) for (const [reason, count] of deadLetters) add({ queue, reason }, count)
  })
  counter('breaker_transitions_total', 'Changes of breakers.', ['queue', 'to'], (add) => {
    for (const [queue, { events }] of meter.queues) {
      add({ queue, to: 'open' }, events.get('BreakerOpened') ?? 0)
      add({ queue, to: 'half-open' }, events.get('BreakerHalfOpened') ?? 0)
      add({ queue, to: 'closed' }, events.get('BreakerClosed') ?? 0)
    }
  })
  counter('fenced_results_total', 'Reports refused because their lease was lost.', [], (add) => add({}, meter.refused.get('lease-lost') ?? 0))
  counter('denied_total', 'Requests refused because of their token: it is not valid, may not do this, or is used too often.', ['reason'], (add) => {
    for (const reason of ['unauthorized', 'forbidden', 'too-many-requests']) add({ reason }, meter.refused.get(reason) ?? 0)
  })
  counter('refused_total', 'Requests and parts of requests that were refused.', ['code'], (add) => {
    for (const [code, count] of meter.refused) add({ code }, count)
  })
  counter('append_conflicts_total', 'Appends that conflicted with events of another process.', ['queue'], (add) => {
    for (const engine of daybook.queues()) add({ queue: engine.name }, engine.status().conflicts)
  })
  counter('http_requests_total', 'Requests answered.', ['method', 'route', 'status'], (add) => {
    for (const [key, count] of meter.requests) {
      const [method = '', route = '', status = ''] = key.split(' ')
      add({ method, route, status }, count)
    }
  })

  counter('webhook_messages_total', 'Messages about alerts: delivered, dropped, and tries that failed.', ['webhook', 'outcome'], (add) => {
    for (const { name: webhook, delivered, dropped, failed } of webhooks()) {
      add({ webhook, outcome: 'delivered' }, delivered)
      add({ webhook, outcome: 'dropped' }, dropped)
      add({ webhook, outcome: 'failed' }, failed)
    }
  })
}

const addQueueGauges = ({ gauge, each }: Adders, daybook: Daybook, asked: () => ReadonlyArray<AskedQueue>): void => {
  /** A gauge that a queue has even if it cannot be read now. */
  const ofQueue = (name: string, help: string, value: (status: EngineStatus) => number): void => each(name, help, 'queue', () => asked().map(({ queue, status }) => [queue, value(status)]))
  /** A gauge of the state. A queue that cannot be read now has none in this scrape. */
  const inState = (name: string, help: string, labels: ReadonlyArray<string>, fill: (gauge: Gauge, queue: string, state: AskedState) => void): void =>
    gauge(name, help, ['queue', ...labels], (all) => {
      for (const { queue, state } of asked()) if (state !== undefined) fill(all, queue, state)
    })
  inState('tasks', 'Tasks by status.', ['status'], (all, queue, { depth }) => {
    for (const [status, count] of Object.entries(depth.byStatus)) all.set({ queue, status }, count)
  })
  inState('pending_tasks', 'Ready tasks (pending or queued) by type.', ['type'], (all, queue, { depth }) => {
    for (const [type, count] of byTypeBounded(depth.byType)) all.inc({ queue, type }, count)
  })
  inState('active_agents', 'Agents that hold a task.', [], (all, queue, { activeCount }) => all.set({ queue }, activeCount))
  inState('max_concurrent_agents', 'Agents that may hold tasks at the same time.', [], (all, queue, { settings }) => all.set({ queue }, settings.capacity.maxConcurrentAgents))
  inState('oldest_ready_age_seconds', 'Age of the oldest ready task.', [], (all, queue, { at, depth }) => all.set({ queue }, secondsSince(depth.oldestPendingAt, at)))
  inState('failed_attempts', 'Failed attempts of the last hour, by phase and by kind of discovery.', ['by', 'name'], (all, queue, { failed }) => {
    for (const { by, name, count } of failed) all.set({ queue, by, name }, count)
  })
  inState('alerts', 'Alerts that are raised now.', ['kind'], (all, queue, { alerts }) => {
    for (const { kind } of alerts) all.inc({ queue, kind })
  })
  inState('breaker_state', 'Breakers: 0 closed, 1 half-open, 2 open.', ['type'], (all, queue, { breakers }) => {
    for (const [type, value] of breakersBounded(breakers)) all.set({ queue, type }, value)
  })
  inState('slowed_types', 'Types that are slowed down now after a rate limit.', [], (all, queue, { slowed }) => all.set({ queue }, slowed))
  ofQueue('log_position', 'Revision of the last durable event.', ({ revision }) => revision)
  ofQueue('snapshot_position', 'Revision of the last snapshot.', ({ snapshotRevision }) => snapshotRevision)
  ofQueue('mailbox_commands', 'Commands waiting to be decided.', ({ mailbox }) => mailbox)
  ofQueue('waiting_claims', 'Claims waiting for work.', ({ waitingClaims }) => waitingClaims)
  ofQueue('appends_in_flight', 'Appends under way.', ({ appendsInFlight }) => appendsInFlight)
  each('queue_available', '1 when the queue takes commands, 0 when it could not be opened, its store is unavailable, it is read-only, or the clock of the server is refused.', 'queue', () => {
    // While nobody sends commands, only this tells that the store is away: no append fails.
    const isStoreThere = daybook.problem() === undefined
    const takesCommands = ({ status: { unavailable, readOnly, clockRefusal } }: AskedQueue): boolean => isStoreThere && unavailable === undefined && readOnly === undefined && clockRefusal === undefined
    // A refused queue has no engine, and so no other values.
    return [...daybook.refused().map(({ queue }) => [queue, 0] as const), ...asked().map((one) => [one.queue, Number(takesCommands(one))] as const)]
  })
  ofQueue('queue_read_only', '1 when the log has events that this version cannot read, so the queue is read-only on this server.', ({ readOnly }) => Number(readOnly !== undefined))
  ofQueue('queue_time_ahead_seconds', "How far the queue's time is ahead of this server's clock.", ({ aheadMs }) => aheadMs / 1_000)
  ofQueue('unreadable_events', 'Events in the log that this version cannot read.', ({ unreadable }) => unreadable)
}

const addPartGauges = ({ gauge, each }: Adders, daybook: Daybook, { queueFiles, webhooks, readModels, checkpoints }: ServerParts): void => {
  each('queue_files_position', 'Revision that the queue files show.', 'queue', () => queueFiles().map(({ queue, revision }) => [queue, revision]))
  each('queue_files_failing', '1 when the last write of the queue files failed, else 0.', 'queue', () => queueFiles().map(({ queue, problem }) => [queue, Number(problem !== undefined)]))

  const views = () => readModels()?.status() ?? []
  each('read_models_position', 'Revision that the read models show.', 'queue', () => views().map(({ queue, revision }) => [queue, revision]))
  each('read_models_behind_events', 'Events of the log that the read models do not show yet.', 'queue', () => views().map(({ queue, behind }) => [queue, behind]))
  gauge('read_models_failing', '1 when the read models cannot go on now, else 0.', [], (all) => all.set(Number(readModels()?.problem() !== undefined)))
  each('read_models_building_events', 'Of read models that are being built anew: events done, and events in all.', 'part', () => {
    const building = readModels()?.building()
    return [['done', building?.done], ['all', building?.of]]
  })

  const signed = () => checkpoints()?.status() ?? []
  each('checkpoint_events', 'Events that the last signed checkpoint covers.', 'queue', () => signed().map(({ queue, events }) => [queue, events]))
  each('checkpoints_failing', '1 when no more checkpoints are signed, because the log is not what was appended or signed, or they are late; else 0.', 'queue', () => {
    const problems = checkpoints()?.problems() ?? []
    // A problem of all queues may come before the first of them is signed.
    const isOfAll = problems.some(({ queue }) => queue === undefined)
    const queues = [...signed().map(({ queue }) => queue), ...(isOfAll ? daybook.queues().map(({ name }) => name) : [])]
    return queues.map((queue) => [queue, Number(isOfAll || problems.some((problem) => problem.queue === queue))])
  })

  each('webhook_waiting_messages', 'Messages about alerts that the webhook wants, and that are not sent yet.', 'webhook', () => webhooks().map(({ name, waiting }) => [name, waiting]))
  each('webhook_oldest_waiting_seconds', 'Age of the alert that waits longest to be sent.', 'webhook', () => webhooks().map(({ name, oldestAt }) => [name, secondsSince(oldestAt, daybook.now())]))
  each('webhook_failing', '1 when the last try to send failed, the receiver wants no more, or alerts of a queue cannot be read for it, else 0.', 'webhook', () =>
    webhooks().map(({ name, problem, unread }) => [name, Number(problem !== undefined || unread.length > 0)]))
}

export const metricsOf = (daybook: Daybook, meter: Meter, version: string, parts: ServerParts): Metrics => {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, prefix: 'daybook_' })
  // These are sums over the metrics by type, and are gauges in spite of their names.
  for (const what of ['handles', 'requests', 'resources']) registry.removeSingleMetric(`daybook_nodejs_active_${what}_total`)
  addLoopDelays(registry)
  new Gauge({ name: 'daybook_build_info', help: 'The version of Daybook. Always 1.', labelNames: ['version'], registers: [registry] }).set({ version }, 1)
  const adders = addersTo([registry])
  /** What was asked for this scrape. */
  let asked: ReadonlyArray<AskedQueue> = []
  addCounters(adders, daybook, meter, parts.webhooks)
  addQueueGauges(adders, daybook, () => asked)
  addPartGauges(adders, daybook, parts)
  adders.gauge('websockets', 'WebSockets that are open now.', [], (all) => all.set(meter.webSockets))

  /** All gauges are filled at once after this, from the same answers. */
  const ask = async (): Promise<void> => {
    const states = []
    for (const engine of daybook.queues()) states.push([engine, await engine.read(stateOf)] as const)
    asked = states.map(([engine, read]) => {
      meter.watch(engine)
      return { queue: engine.name, status: engine.status(), state: E.isRight(read) ? read.right.value : undefined }
    })
  }
  const histograms = (): ReadonlyArray<HistogramSnapshot> => [
    snapshotOf('daybook_queue_wait_seconds', 'From enqueueing to the first claim, of claims over HTTP.', [...meter.queues].map(([queue, { waitSeconds }]) => [{ queue }, waitSeconds])),
    snapshotOf('daybook_run_seconds', 'From a claim to its end.', [...meter.queues].map(([queue, { runSeconds }]) => [{ queue }, runSeconds])),
    snapshotOf('daybook_http_request_seconds', 'How long requests took until their answer was ready, but for those that may wait for a task or a result.', [...meter.requestSeconds].map(([key, histogram]) => {
      const [method = '', route = ''] = key.split(' ')
      return [{ method, route }, histogram]
    })),
    snapshotOf('daybook_append_seconds', 'How long appends to the log took, by outcome.', [...meter.appends].map(([outcome, histogram]) => [{ outcome }, histogram])),
  ]
  return {
    text: async () => {
      await ask()
      return (await registry.metrics()) + histograms().map(textOf).join('')
    },
    list: async () => {
      await ask()
      return [...(await registry.getMetricsAsJSON()), ...histograms()]
    },
  }
}

type Add = (labels: Readonly<Record<string, string>>, value: number) => void

const stateOf = (state: QueueState, at: number) => ({ at, depth: depthOf(state, at), failed: failedAttemptsOf(state, at), breakers: breakersOf(state), alerts: alertsOf(state), slowed: slowedTypesOf(state, at).length, activeCount: activeAgentsOf(state).size, settings: headOf(state).settings })
type AskedState = ReturnType<typeof stateOf>

interface AskedQueue {
  readonly queue: string
  readonly status: EngineStatus
  /** `undefined` if it cannot be read now. */
  readonly state: AskedState | undefined
}

const byTypeBounded = (byType: Readonly<Record<string, number>>): ReadonlyArray<readonly [string, number]> => {
  const all = Object.entries(byType).sort(([, a], [, b]) => b - a)
  const rest = all.slice(typesMax).reduce((sum, [, count]) => sum + count, 0)
  return rest === 0 ? all : [...all.slice(0, typesMax), ['other', rest]]
}

/** Open breakers first, then half-open ones: alert rules and `daybook top` must not miss one because many others are closed. */
const breakersBounded = (breakers: Readonly<Record<string, BreakerView>>): ReadonlyArray<readonly [type: string, value: number]> =>
  Object.entries(breakers).map(([type, { state }]) => [type, breakerValue[state]] as const).sort(([, a], [, b]) => b - a).slice(0, typesMax)

interface HistogramSnapshot extends MetricSnapshot {
  readonly values: ReadonlyArray<{ readonly value: number; readonly labels: Readonly<Record<string, string>>; readonly metricName: string }>
}

type Labels = Readonly<Record<string, string>>

const snapshotOf = (name: string, help: string, series: ReadonlyArray<readonly [Labels, Histogram]>): HistogramSnapshot => ({
  name,
  help,
  type: 'histogram',
  values: series.flatMap(([labels, histogram]) => valuesOf(name, labels, histogram)),
})

const valuesOf = (name: string, labels: Labels, { bounds, counts, count, sum }: Histogram): HistogramSnapshot['values'] => {
  let below = 0
  const buckets = bounds.map((bound, i) => ({ metricName: `${name}_bucket`, labels: { ...labels, le: String(bound) }, value: (below += counts[i] as number) }))
  return [
    ...buckets,
    { metricName: `${name}_bucket`, labels: { ...labels, le: '+Inf' }, value: count },
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ]
}

const textOf = ({ name, help, values }: HistogramSnapshot): string =>
  `\n# HELP ${name} ${help}\n# TYPE ${name} histogram\n${values.map(({ metricName, labels, value }) => `${metricName}${labelsText(labels)} ${value}\n`).join('')}`

const labelsText = (labels: Labels): string => {
  const texts = Object.entries(labels).map(([name, value]) => `${name}="${value}"`)
  return texts.length === 0 ? '' : `{${texts.join(',')}}`
}
