/**
 * The time of one queue. It never goes back: where this server's clock is behind the last event of the log, because that was
 * written by a clock that was ahead, time goes on from that event by the monotonic clock. So leases, delays and breakers last as
 * long as they should, on every server, however wrong a clock once was (ADR 22).
 */
import type { CheckedClock } from './checked-clock.js'

/** So much the queue's time may be ahead of this clock before that is worth a word, in milliseconds. */
const aheadMsMax = 1_000
const sayAgainMs = 3_600_000

export class QueueClock {
  /** The time of the newest event whose time was ahead of what was expected, and when it became known here, by the monotonic clock. */
  private time: number
  private seenAt: number
  private saidAt = Number.NEGATIVE_INFINITY

  /** `time`: of the last event of the log. */
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
    const line = this.line()
    if (line - wall > aheadMsMax) this.tell(line - wall)
    return line > wall ? line : wall
  }

  /** How far the queue's time is ahead of this server's clock, in milliseconds; 0 when it is not. */
  aheadMs(): number {
    const wall = this.clock.now()
    return Math.max(0, this.line() - wall)
  }

  /** Why no command is taken by this clock; `undefined` when they are. As of the last reading. */
  get refusal(): string | undefined {
    return this.clock.refusal
  }

  get monotonic(): () => number {
    return this.clock.monotonic
  }

  /** An event of this time has become durable, by this process or another. */
  saw(time: number): void {
    if (time <= this.line()) return
    this.time = time
    this.seenAt = this.clock.monotonic()
  }

  private line(): number {
    return Math.floor(this.time + this.clock.monotonic() - this.seenAt)
  }

  private tell(aheadMs: number): void {
    const monotonic = this.clock.monotonic()
    if (monotonic - this.saidAt < sayAgainMs) return
    this.saidAt = monotonic
    const seconds = Math.round(aheadMs / 1_000)
    this.warn(
      `the queue's time is ${seconds} s ahead of this clock: it was set back, or the clock of another server is ahead. Time goes on from the last event, so leases and delays last as long as they should. Set the clocks right`,
    )
  }
}
