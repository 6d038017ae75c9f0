/**
 * The time of one queue. No decision is earlier than what happened before. If this server's clock is behind the last event of the log, that event was
 * written with a clock that was ahead; time then continues from that event by the monotonic clock. So leases, delays and breakers have the right length
 * on every server, however wrong a clock once was (ADR 22).
 */
import type { CheckedClock } from './checked-clock.js'
import type { Timers } from './timers.js'

/** If the queue's time is ahead of this clock by more than this, a warning is logged. In milliseconds. */
const aheadMsMax = 1_000
const sayAgainMs = 3_600_000

export class QueueClock {
  /** The time of the newest event or tidying that was ahead of the expected time, and when it became known here, by the monotonic clock. */
  private time: number
  private seenAt: number
  private saidAt = Number.NEGATIVE_INFINITY

  /** `time`: that of the last event in the log. */
  constructor(
    private readonly clock: CheckedClock,
    time: number,
    private readonly warn: (message: string) => void,
  ) {
    this.time = time
    this.seenAt = clock.monotonic()
  }

  /** The queue's time, in milliseconds since 1970. */
  now(): number {
    const wall = this.clock.now()
    const expected = this.expectedAt(this.clock.readAt)
    if (expected - wall > aheadMsMax) this.tell(expected - wall)
    return expected > wall ? expected : wall
  }

  /** How far the queue's time is ahead of this server's clock, in milliseconds; 0 if it is not. */
  aheadMs(): number {
    const wall = this.clock.now()
    return Math.max(0, this.expectedAt(this.clock.readAt) - wall)
  }

  /** Why commands are refused because of the clock; `undefined` if they are accepted. As of the last reading. */
  get refusal(): string | undefined {
    return this.clock.refusal
  }

  get monotonic(): () => number {
    return this.clock.monotonic
  }

  get timers(): Timers {
    return this.clock.timers
  }

  /** Called when an event with this time has become durable, by this process or another, and when the state was tidied as of this time. */
  saw(time: number): void {
    const monotonic = this.clock.monotonic()
    if (time <= this.expectedAt(monotonic)) return
    this.time = time
    this.seenAt = monotonic
  }

  /** The time that follows from the log, by the monotonic clock. */
  private expectedAt(monotonic: number): number {
    return Math.floor(this.time + monotonic - this.seenAt)
  }

  private tell(aheadMs: number): void {
    const monotonic = this.clock.monotonic()
    if (monotonic - this.saidAt < sayAgainMs) return
    this.saidAt = monotonic
    const seconds = Math.round(aheadMs / 1_000)
    this.warn(
      `the queue's time is ${seconds} s ahead of this clock: it was set back, or the clock of another server is ahead. Time goes on from where it was, so leases and delays last as long as they should. Set the clocks right`,
    )
  }
}
