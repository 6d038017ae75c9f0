/** Counters of the running server: plain numbers that become metrics at a scrape. */
import { deadLetterReasons, type EventType, expiryCauses, isUnreadable, type QueueEvent } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import type { Claim, QueueEngine } from '../../engine/index.js'
import type { AppendError, AppendObserver } from '../../store/index.js'

/** A cheap histogram of one series, without allocation. */
export class Histogram {
  readonly counts: Array<number>
  sum = 0
  count = 0

  constructor(readonly bounds: ReadonlyArray<number>) {
    this.counts = bounds.map(() => 0)
  }

  observe(value: number, times = 1): void {
    this.sum += value * times
    this.count += times
    for (let i = 0; i < this.bounds.length; i++) {
      if (value <= (this.bounds[i] as number)) {
        this.counts[i] = (this.counts[i] as number) + times
        return
      }
    }
  }
}

/** Tasks wait and run from a hundredth of a second to a day. */
const taskSeconds = [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 900, 3_600, 14_400, 86_400]

/** Requests take from a millisecond to the time-out of most clients. */
const requestSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** Appends take from half a millisecond, on a good disk, to the store's time limit. */
const appendSeconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

const increment = (counts: Map<string, number>, key: string): void => {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

/**
 * Counts that begin at 0. Prometheus takes what a series begins with for its start: a first failure whose series begins with it would count as none, and
 * raise no alert.
 */
const zeros = (keys: ReadonlyArray<string>): Map<string, number> => new Map(keys.map((key) => [key, 0]))

/** Counts of one queue since this server opened it. */
class QueueMeter {
  readonly events = new Map<EventType, number>()
  /** Failed attempts that are retried, by cause. */
  readonly retries = zeros(['failed', 'callback-missing', ...expiryCauses])
  readonly deadLetters = zeros(deadLetterReasons)
  /** Claims of live leases, whichever server appended them: task → when it was claimed. */
  private readonly claimedAt = new Map<string, number>()
  /** Unfinished tasks that had a claim which no count of attempts tells of: it was given back, parked or rate limited, or a reviewer reset the counts. */
  private readonly claimedBefore = new Set<string>()
  readonly waitSeconds = new Histogram(taskSeconds)
  readonly runSeconds = new Histogram(taskSeconds)

  /** Counts events that this server appended. */
  count(events: ReadonlyArray<QueueEvent>): void {
    for (let i = 0; i < events.length; i++) {
      const event = events[i] as QueueEvent
      this.events.set(event.type, (this.events.get(event.type) ?? 0) + 1)
      const ranMs = this.follow(event)
      if (ranMs !== undefined) this.runSeconds.observe(ranMs / 1_000)
      switch (event.type) {
        case 'Failed':
        case 'ClaimExpired':
          // A failed attempt that makes a dead letter is followed at once by `DeadLettered`.
          if (events[i + 1]?.type !== 'DeadLettered') increment(this.retries, event.type === 'Failed' ? 'failed' : event.data.cause)
          break
        case 'ParkTimedOut':
          if (event.data.onTimeout === 'fail' && events[i + 1]?.type !== 'DeadLettered') increment(this.retries, 'callback-missing')
          break
        case 'DeadLettered':
          increment(this.deadLetters, event.data.reason)
          break
        default:
      }
    }
  }

  /** Whether a claim is the first of its task. A claim that this server did not see, because it was not running, counts only as an attempt. */
  isFirst({ task, retries, attempts }: Claim): boolean {
    return retries === 0 && attempts === 0 && !this.claimedBefore.has(task)
  }

  /** Follows the claim of an event. A lease may end on another server than it began. Returns how long it lasted, in milliseconds, if it has ended with a run. */
  follow(event: QueueEvent): number | undefined {
    this.noteClaimedBefore(event)
    switch (event.type) {
      case 'Claimed':
        this.claimedAt.set(event.data.task, event.at)
        return undefined
      case 'Failed':
      case 'ClaimExpired':
      case 'Completed':
      case 'Released':
      case 'ClaimReturned':
      case 'TaskParked':
      case 'RateLimited':
      case 'ClaimRevoked': {
        const claimedAt = this.claimedAt.get(event.data.task)
        this.claimedAt.delete(event.data.task)
        return claimedAt === undefined ? undefined : event.at - claimedAt
      }
      case 'Cancelled':
        this.claimedAt.delete(event.data.task)
        return undefined
      default:
        return undefined
    }
  }

  private noteClaimedBefore({ type, data }: QueueEvent): void {
    switch (type) {
      case 'Released':
      case 'ClaimReturned':
      case 'ClaimRevoked':
      case 'TaskParked':
      case 'RateLimited':
      case 'Requeued':
        this.claimedBefore.add(data.task)
        break
      case 'Completed':
      case 'DeadLettered':
      case 'Cancelled':
      case 'Discarded':
        this.claimedBefore.delete(data.task)
        break
      default:
    }
  }
}

const outcomeOf: Readonly<Record<AppendError['_tag'], string>> = { WrongExpectedRevision: 'conflict', OutcomeUnknown: 'unknown', Unavailable: 'unavailable', AppendTooLarge: 'too-large' }

export class Meter {
  readonly queues = new Map<string, QueueMeter>()
  /** By outcome: the durations of appends. Each outcome is there from the start, for the reason of {@link zeros}. */
  readonly appends: ReadonlyMap<string, Histogram> = new Map(['ok', ...Object.values(outcomeOf)].map((outcome) => [outcome, new Histogram(appendSeconds)]))
  /** By `METHOD route status`: the number of requests. */
  readonly requests = new Map<string, number>()
  /** By `METHOD route`: how long requests took until their answer was ready. Those that may wait for a task or a result are not among them. */
  readonly requestSeconds = new Map<string, Histogram>()
  readonly refused = new Map<string, number>()
  /** Number of WebSockets that are open now. */
  webSockets = 0
  private readonly watched = new WeakSet<QueueEngine>()

  /** Counts events of a queue from now on. */
  watch(queue: QueueEngine): void {
    if (this.watched.has(queue)) return
    this.watched.add(queue)
    const meter = new QueueMeter()
    this.queues.set(queue.name, meter)
    // The server that appended an event counts it.
    queue.committed.subscribe({
      next: (committed) => {
        if (committed.isOwn) meter.count(committed.events)
        else for (const event of committed.events) if (!isUnreadable(event)) meter.follow(event)
      },
      // A queue without events may be closed, and others may follow it without end.
      complete: () => {
        if (queue.status().revision < 0 && this.queues.get(queue.name) === meter) this.queues.delete(queue.name)
      },
    })
  }

  /** Counts only first claims: the waiting time of a retry says nothing about the queue. `now`: the queue's time. */
  claimed(queue: string, claims: ReadonlyArray<Claim>, now: number): void {
    const meter = this.queues.get(queue)
    if (meter === undefined) return
    const { waitSeconds } = meter
    // Tasks that were enqueued together are mostly claimed together: they make one observation.
    let since = 0
    let times = 0
    for (const claim of claims) {
      if (!meter.isFirst(claim)) continue
      const { createdAt } = claim
      if (createdAt !== since && times > 0) {
        waitSeconds.observe(Math.max(0, now - since) / 1_000, times)
        times = 0
      }
      since = createdAt
      times++
    }
    if (times > 0) waitSeconds.observe(Math.max(0, now - since) / 1_000, times)
  }

  /** An observer for the appends of a store. */
  readonly append: AppendObserver = () => {
    const began = performance.now()
    return (result) => {
      const outcome = E.isRight(result) ? 'ok' : outcomeOf[result.left._tag]
      this.appends.get(outcome)?.observe((performance.now() - began) / 1_000)
    }
  }

  refusedBy(code: string): void {
    increment(this.refused, code)
  }

  /** `ms`: how long it took; `undefined` if it may have waited. */
  answered(method: string, path: string, status: number, ms?: number): void {
    increment(this.requests, `${method} ${path} ${status}`)
    if (ms === undefined) return
    const key = `${method} ${path}`
    let histogram = this.requestSeconds.get(key)
    if (histogram === undefined) this.requestSeconds.set(key, (histogram = new Histogram(requestSeconds)))
    histogram.observe(ms / 1_000)
  }
}
