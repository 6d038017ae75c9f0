/**
 * Sends messages to one receiver, one at a time, until each is delivered or given up.
 *
 * | answer | |
 * |---|---|
 * | 2xx | delivered |
 * | 410 | the receiver wants no more: nothing is sent until the server starts again |
 * | a refusal of this message, such as 400 | tried a few times, then dropped |
 * | everything else, including no answer | tried again until the message is three days old, then dropped |
 */
import type { AlertKind } from '@daybook/core'
import { backoff, pause } from '@daybook/client/common'
import { type Problem, type RetryMs, Stopped } from '../log-follower/index.js'
import type { WebhookMessage } from './message.js'
import { type Endpoint, openPoster } from './post.js'
import type { Resolve } from './public-connector.js'

export interface WebhookOptions extends Endpoint {
  /** Unique: the progress of the receiver is stored under it. */
  readonly name: string
  /** Default: all kinds. */
  readonly kinds?: ReadonlyArray<string> | undefined
  readonly queues?: ReadonlyArray<string> | undefined
}

export interface Tuning {
  /** The pause between two tries. Default: 5 s, doubled up to ten minutes. */
  readonly retryMs?: RetryMs
  /** The greatest age of a message. Default: three days. */
  readonly ageMaxMs?: number
  /** Default: the system's resolver. */
  readonly resolve?: Resolve
}

export interface ReceiverStatus {
  readonly name: string
  /** Number of delivered messages since the server started. */
  readonly delivered: number
  readonly dropped: number
  /** Number of failed tries. */
  readonly failed: number
  readonly isGone: boolean
  readonly problem: Problem | undefined
  /** When the alert of the oldest waiting message happened, in milliseconds since 1970. */
  readonly oldestAt: number | undefined
}

const retryMsDefault: RetryMs = { first: 5_000, most: 600_000 }
const ageMaxMsDefault = 3 * 24 * 3_600_000
/** How often a message is tried that the receiver refuses. */
const refusalsMax = 5
/** How long a message may be in flight when the server stops, in milliseconds. */
const graceMs = 1_000

export class Receiver {
  private readonly poster
  private readonly delays
  private readonly ageMaxMs
  private readonly givingUp = new AbortController()
  private turn: Promise<void> = Promise.resolve()
  private readonly waiting = new Set<WebhookMessage>()
  private delivered = 0
  private dropped = 0
  private failed = 0
  private isGone = false
  private problem: Problem | undefined

  constructor(
    private readonly options: WebhookOptions,
    private readonly warn: (message: string) => void,
    /** Milliseconds since 1970. A clock that has jumped ahead would make every waiting message too old, and every signature wrong. */
    private readonly now: () => number,
    { retryMs = retryMsDefault, ageMaxMs = ageMaxMsDefault, resolve }: Tuning = {},
  ) {
    this.poster = openPoster(options, resolve, now)
    this.delays = backoff({ firstMs: retryMs.first, mostMs: retryMs.most, random: Math.random })
    this.ageMaxMs = ageMaxMs
  }

  /** Whether it wants messages of this kind; `undefined` is a kind that nobody knows. */
  wants({ kind, queue }: { readonly kind: AlertKind | undefined; readonly queue: string }): boolean {
    const { kinds, queues } = this.options
    return kind !== undefined && (kinds?.includes(kind) ?? true) && (queues?.includes(queue) ?? true)
  }

  /** Resolves when the message is delivered or dropped. Rejects with Stopped if the signal came first. */
  async deliver(message: WebhookMessage, signal: AbortSignal): Promise<void> {
    this.waiting.add(message)
    const sending = this.turn.then(() => this.send(message, signal))
    this.turn = sending.catch(() => undefined)
    try {
      await sending
    } finally {
      this.waiting.delete(message)
    }
  }

  status(): ReceiverStatus {
    const { delivered, dropped, failed, isGone, problem } = this
    const oldestAt = [...this.waiting].reduce<number | undefined>((oldest, { at }) => Math.min(at, oldest ?? at), undefined)
    return { name: this.options.name, delivered, dropped, failed, isGone, problem, oldestAt }
  }

  /** From now on, the message in flight has one second. */
  stopSoon(): void {
    setTimeout(() => this.givingUp.abort(), graceMs).unref()
  }

  close(): Promise<void> {
    return this.poster.close()
  }

  private async send(message: WebhookMessage, signal: AbortSignal): Promise<void> {
    const isOld = (): boolean => this.now() - message.at > this.ageMaxMs
    if (this.isGone) return this.drop(message, 'the receiver wants no more')
    // The previous message has just failed.
    if (this.problem !== undefined && isOld()) return this.drop(message, this.problem.reason)
    for (let refused = 0; ; ) {
      if (signal.aborted) throw new Stopped()
      const outcome = await this.poster.post(message, this.givingUp.signal)
      if (outcome.kind === 'delivered') return this.noteDelivery()
      if (signal.aborted && outcome.kind === 'failed') throw new Stopped()
      this.failed++
      if (outcome.kind === 'gone') {
        this.isGone = true
        this.problem = { reason: 'it answers 410: it wants no more messages, and gets none until the server starts again', since: this.now() }
        this.warn(`webhook ${this.options.name}: ${this.problem.reason}`)
        return this.drop(message, 'the receiver wants no more')
      }
      this.noteFailure(outcome.reason)
      if (outcome.kind === 'refused' && ++refused >= refusalsMax) return this.drop(message, outcome.reason)
      if (isOld()) return this.drop(message, outcome.reason)
      await pause(Math.max(this.delays.next(), outcome.kind === 'failed' ? (outcome.retryAfterMs ?? 0) : 0), signal, { unref: true })
    }
  }

  private noteDelivery(): void {
    this.delivered++
    if (this.problem !== undefined) this.warn(`webhook ${this.options.name}: works again`)
    this.problem = undefined
    this.delays.reset()
  }

  private noteFailure(reason: string): void {
    if (this.problem?.reason !== reason) this.warn(`webhook ${this.options.name}: ${reason}: it is tried again`)
    this.problem = { reason, since: this.problem?.since ?? this.now() }
  }

  private drop({ id, queue, body }: WebhookMessage, reason: string): void {
    this.dropped++
    this.warn(`webhook ${this.options.name}: message ${id} of queue ${queue} is dropped: ${reason}: ${body}`)
  }
}
