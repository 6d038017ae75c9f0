/** Prometheus metrics. Counters come from committed events, gauges are read at each scrape. Ids are never labels. */
import { activeAgentsOf, alertsOf, breakersOf, type BreakerView, depthOf, type EventType, failedAttemptsOf, headOf } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client'
import type { Checkpoints } from '../../chain/index.js'
import type { Daybook } from '../../engine/index.js'
import type { QueueFilesStatus } from '../../files/index.js'
import type { MetricSnapshot } from '../../telemetry/index.js'
import type { ReadModels } from '../../read-models/index.js'
import type { WebhookStatus } from '../../webhooks/index.js'
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

export const metricsOf = (
  daybook: Daybook,
  meter: Meter,
  version: string,
  queueFiles: () => ReadonlyArray<QueueFilesStatus>,
  webhooks: () => ReadonlyArray<WebhookStatus>,
  readModels: () => ReadModels | undefined,
  checkpoints: () => Checkpoints | undefined,
): Metrics => {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry, prefix: 'daybook_' })
  // These are sums over the metrics by type, and are gauges in spite of their names.
  for (const what of ['handles', 'requests', 'resources']) registry.removeSingleMetric(`daybook_nodejs_active_${what}_total`)
  new Gauge({ name: 'daybook_build_info', help: 'The version of Daybook. Always 1.', labelNames: ['version'], registers }).set({ version }, 1)

  const counter = (name: string, help: string, labels: ReadonlyArray<string>, fill: (add: Add) => void): void => {
    new Counter({
      name: `daybook_${name}`,
      help,
      labelNames: [...labels],
      registers,
      collect() {
        this.reset()
        fill((given, value) => this.inc({ ...given }, value))
      },
    })
  }
  const gauge = (name: string, help: string, labels: ReadonlyArray<string>): Gauge =>
    new Gauge({ name: `daybook_${name}`, help, labelNames: [...labels], registers })

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

  const tasks = gauge('tasks', 'Tasks by status.', ['queue', 'status'])
  const pending = gauge('pending_tasks', 'Ready tasks (pending or queued) by type.', ['queue', 'type'])
  const active = gauge('active_agents', 'Agents that hold a task.', ['queue'])
  const activeMax = gauge('max_concurrent_agents', 'Agents that may hold tasks at the same time.', ['queue'])
  const oldest = gauge('oldest_ready_age_seconds', 'Age of the oldest ready task.', ['queue'])
  const failedAttempts = gauge('failed_attempts', 'Failed attempts of the last hour, by phase and by kind of discovery.', ['queue', 'by', 'name'])
  const alerts = gauge('alerts', 'Alerts that are raised now.', ['queue', 'kind'])
  const breaker = gauge('breaker_state', 'Breakers: 0 closed, 1 half-open, 2 open.', ['queue', 'type'])
  const position = gauge('log_position', 'Revision of the last durable event.', ['queue'])
  const snapshot = gauge('snapshot_position', 'Revision of the last snapshot.', ['queue'])
  const mailbox = gauge('mailbox_commands', 'Commands waiting to be decided.', ['queue'])
  const waiting = gauge('waiting_claims', 'Claims waiting for work.', ['queue'])
  const appends = gauge('appends_in_flight', 'Appends under way.', ['queue'])
  const available = gauge('queue_available', '1 when the queue takes commands, 0 when it could not be opened, its store is unavailable, it is read-only, or the clock of the server is refused.', ['queue'])
  const readOnly = gauge('queue_read_only', '1 when the log has events that this version cannot read, so the queue is read-only on this server.', ['queue'])
  const ahead = gauge('queue_time_ahead_seconds', "How far the queue's time is ahead of this server's clock.", ['queue'])
  const unreadable = gauge('unreadable_events', 'Events in the log that this version cannot read.', ['queue'])

  const filesPosition = gauge('queue_files_position', 'Revision that the queue files show.', ['queue'])
  const filesFailing = gauge('queue_files_failing', '1 when the last write of the queue files failed, else 0.', ['queue'])

  const viewsPosition = gauge('read_models_position', 'Revision that the read models show.', ['queue'])
  const viewsBehind = gauge('read_models_behind_events', 'Events of the log that the read models do not show yet.', ['queue'])
  const viewsFailing = gauge('read_models_failing', '1 when the read models cannot go on now, else 0.', [])
  const viewsBuilding = gauge('read_models_building_events', 'Of read models that are being built anew: events done, and events in all.', ['part'])

  const signedEvents = gauge('checkpoint_events', 'Events that the last signed checkpoint covers.', ['queue'])
  const signingFailing = gauge('checkpoints_failing', '1 when no more checkpoints are signed, because the log is not what was appended or signed, or they are late; else 0.', ['queue'])

  const hooksWaiting = gauge('webhook_waiting_messages', 'Messages about alerts that are known and not sent yet.', ['webhook'])
  const hooksOldest = gauge('webhook_oldest_waiting_seconds', 'Age of the alert that waits longest to be sent.', ['webhook'])
  const hooksFailing = gauge('webhook_failing', '1 when the last try to send failed, the receiver wants no more, or alerts of a queue cannot be read for it, else 0.', ['webhook'])

  const askWebhooks = (): void => {
    for (const { name: webhook, waiting, oldestAt, problem, unread } of webhooks()) {
      hooksWaiting.set({ webhook }, waiting)
      hooksOldest.set({ webhook }, oldestAt === undefined ? 0 : Math.max(0, daybook.now() - oldestAt) / 1_000)
      hooksFailing.set({ webhook }, problem === undefined && unread.length === 0 ? 0 : 1)
    }
  }
  const askCheckpoints = (): void => {
    for (const each of [signedEvents, signingFailing]) each.reset()
    const problems = checkpoints()?.problems() ?? []
    const status = checkpoints()?.status() ?? []
    for (const { queue, events } of status) signedEvents.set({ queue }, events)
    // A problem of all queues may come before the first of them is signed.
    const isOfAll = problems.some(({ queue }) => queue === undefined)
    const queues = [...status.map(({ queue }) => queue), ...(isOfAll ? daybook.queues().map(({ name }) => name) : [])]
    for (const queue of queues) signingFailing.set({ queue }, isOfAll || problems.some((problem) => problem.queue === queue) ? 1 : 0)
  }
  const askFiles = (): void => {
    filesPosition.reset()
    filesFailing.reset()
    for (const { queue, revision, problem } of queueFiles()) {
      if (revision !== undefined) filesPosition.set({ queue }, revision)
      filesFailing.set({ queue }, problem === undefined ? 0 : 1)
    }
  }
  const askReadModels = (): void => {
    for (const each of [viewsPosition, viewsBehind, viewsBuilding]) each.reset()
    const views = readModels()
    viewsFailing.set(views?.problem() === undefined ? 0 : 1)
    for (const { queue, revision, behind } of views?.status() ?? []) {
      viewsPosition.set({ queue }, revision)
      viewsBehind.set({ queue }, behind)
    }
    const building = views?.building()
    if (building === undefined) return
    viewsBuilding.set({ part: 'done' }, building.done)
    viewsBuilding.set({ part: 'all' }, building.of)
  }
  const ask = async (): Promise<void> => {
    const asked = []
    for (const engine of daybook.queues()) {
      asked.push([engine, await engine.read((state, at) => ({ at, depth: depthOf(state, at), failed: failedAttemptsOf(state, at), breakers: breakersOf(state), alerts: alertsOf(state), activeCount: activeAgentsOf(state).size, settings: headOf(state).settings }))] as const)
    }
    // From here on nothing is awaited: another scrape at the same time would clear the gauges in between, or add its alerts to these.
    for (const each of [tasks, pending, active, activeMax, oldest, failedAttempts, alerts, breaker, position, snapshot, mailbox, waiting, appends, available, readOnly, ahead, unreadable]) each.reset()
    // While nobody sends commands, only this tells that the store is away: no append fails.
    const isStoreThere = daybook.problem() === undefined
    // Such a queue has no engine, and so no other values.
    for (const { queue } of daybook.refused()) available.set({ queue }, 0)
    for (const [engine, read] of asked) {
      meter.watch(engine)
      const queue = engine.name
      const status = engine.status()
      position.set({ queue }, status.revision)
      snapshot.set({ queue }, status.snapshotRevision)
      mailbox.set({ queue }, status.mailbox)
      waiting.set({ queue }, status.waitingClaims)
      appends.set({ queue }, status.appendsInFlight)
      available.set({ queue }, isStoreThere && status.unavailable === undefined && status.readOnly === undefined && status.clockRefusal === undefined ? 1 : 0)
      readOnly.set({ queue }, status.readOnly === undefined ? 0 : 1)
      ahead.set({ queue }, status.aheadMs / 1_000)
      unreadable.set({ queue }, status.unreadable)
      // A queue that cannot be read now has no values in this scrape.
      if (E.isLeft(read)) continue
      const { at, depth, failed, breakers, alerts: raised, activeCount, settings } = read.right.value
      active.set({ queue }, activeCount)
      activeMax.set({ queue }, settings.capacity.maxConcurrentAgents)
      for (const [name, count] of Object.entries(depth.byStatus)) tasks.set({ queue, status: name }, count)
      for (const [type, count] of byTypeBounded(depth.byType)) pending.inc({ queue, type }, count)
      oldest.set({ queue }, depth.oldestPendingAt === undefined ? 0 : Math.max(0, at - depth.oldestPendingAt) / 1_000)
      for (const { kind } of raised) alerts.inc({ queue, kind })
      for (const { by, name, count } of failed) failedAttempts.set({ queue, by, name }, count)
      for (const [type, value] of breakersBounded(breakers)) breaker.set({ queue, type }, value)
    }
  }

  const askAll = async (): Promise<void> => {
    askFiles()
    askWebhooks()
    askReadModels()
    askCheckpoints()
    await ask()
  }
  const histograms = (): ReadonlyArray<HistogramSnapshot> => [
    snapshotOf('daybook_queue_wait_seconds', 'From enqueueing to the first claim, of claims over HTTP.', [...meter.queues].map(([queue, { waitSeconds }]) => [{ queue }, waitSeconds])),
    snapshotOf('daybook_run_seconds', 'From a claim to its end.', [...meter.queues].map(([queue, { runSeconds }]) => [{ queue }, runSeconds])),
    snapshotOf('daybook_append_seconds', 'How long appends to the log took, by outcome.', [...meter.appends].map(([outcome, histogram]) => [{ outcome }, histogram])),
  ]
  return {
    text: async () => {
      await askAll()
      return (await registry.metrics()) + histograms().map(textOf).join('')
    },
    list: async () => {
      await askAll()
      return [...(await registry.getMetricsAsJSON()), ...histograms()]
    },
  }
}

type Add = (labels: Readonly<Record<string, string>>, value: number) => void

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
