/** Asks the server for the figures of `daybook top`. */
import type { DaybookClient, TaskView } from '../../client/index.js'
import { errorText } from '../../error-text.js'
import type { Connection } from '../connection.js'
import { CliError } from '../exit-codes.js'
import type { Figures, QueueDetail, QueueFigures } from './figures.js'
import { type Metric, readMetrics } from './metrics.js'
import { Counter } from './rates.js'
import { selectedQueue, type TopState } from './state.js'

/** How many tasks of a status are examined to find those that take longest. */
const lookedAtMax = 200
const shownMax = 50
const answerMs = 5_000

interface Counters {
  readonly arrivals: Counter
  readonly completions: Counter
}

export class Source {
  readonly #client: DaybookClient
  readonly #connection: Connection
  readonly #counters = new Map<string, Counters>()

  constructor(client: DaybookClient, connection: Connection) {
    this.#client = client
    this.#connection = connection
  }

  /** With the details of the queue that is selected on the screen. Rejects with a DaybookError or CliError. */
  async figures(state: Pick<TopState, 'selected' | 'order'>): Promise<Figures> {
    // The client is asked first, because its errors say what to do.
    const summaries = await this.#client.queues()
    const metrics = await this.#metrics()
    // Rates go by a clock that nobody sets.
    const sampledAt = performance.now()
    const queues = summaries.map(({ name, paused, byStatus }) => this.#queue(sampledAt, name, paused, byStatus, metrics.filter(({ labels }) => labels.queue === name)))
    const chosen = selectedQueue(queues, state)?.name
    return { at: Date.now(), queues, detail: chosen === undefined ? undefined : await this.#detail(chosen) }
  }

  #queue(at: number, name: string, paused: string | null, byStatus: QueueFigures['byStatus'], metrics: ReadonlyArray<Metric>): QueueFigures {
    const value = (metric: string, outcome?: string): number =>
      metrics.find((each) => each.name === `daybook_${metric}` && (outcome === undefined || each.labels.outcome === outcome))?.value ?? 0
    const counters = this.#counters.get(name) ?? { arrivals: new Counter(), completions: new Counter() }
    this.#counters.set(name, counters)
    counters.arrivals.look(at, value('enqueued_total'))
    counters.completions.look(at, value('completions_total', 'completed'))
    return {
      name,
      paused,
      byStatus,
      arrivals: counters.arrivals.rate,
      completions: counters.completions.rate,
      oldestWaitSeconds: value('oldest_ready_age_seconds'),
      agents: value('active_agents'),
      agentsMax: value('max_concurrent_agents'),
      breakers: metrics.flatMap((each) =>
        each.name === 'daybook_breaker_state' && each.value > 0 ? [{ type: each.labels.type ?? '', state: each.value === 1 ? 'half-open' as const : 'open' as const }] : []),
    }
  }

  async #detail(queue: string): Promise<QueueDetail> {
    const client = this.#client.in(queue)
    const tasksOf = async (status: 'in-progress' | 'pending' | 'queued'): Promise<ReadonlyArray<TaskView>> => (await client.tasks({ status, limit: lookedAtMax })).tasks
    const [alerts, running, pending, queued] = await Promise.all([client.alerts(), tasksOf('in-progress'), tasksOf('pending'), tasksOf('queued')])
    const oldestFirst = (tasks: ReadonlyArray<TaskView>, time: (task: TaskView) => string): ReadonlyArray<TaskView> =>
      [...tasks].sort((a, b) => (time(a) < time(b) ? -1 : 1)).slice(0, shownMax)
    return {
      queue,
      alerts,
      running: oldestFirst(running, (task) => task.claimedAt ?? task.createdAt),
      waiting: oldestFirst([...pending, ...queued], ({ createdAt }) => createdAt),
    }
  }

  async #metrics(): Promise<ReadonlyArray<Metric>> {
    const { url, token } = this.#connection
    // A server behind a proxy may have a path of its own.
    const answer = await fetch(`${url.replace(/\/+$/, '')}/metrics`, { headers: token === undefined ? {} : { authorization: `Bearer ${token}` }, signal: AbortSignal.timeout(answerMs) })
      .catch((error: unknown) => {
        throw new CliError(`the metrics of ${url} cannot be read: ${errorText(error)}`)
      })
    if (answer.ok) return readMetrics(await answer.text())
    throw new CliError(answer.status === 403 ? 'this token may not read the metrics of all queues, which top shows: it takes one of an operator, guardian, auditor or admin' : `the metrics of ${url} cannot be read: status ${answer.status}`)
  }
}
