/** The timer of an engine. It is set for the next timer of the state. */
import type { QueueClock } from './queue-clock.js'

/** It fires at least once a minute: if the wall clock is set forward, leases end earlier than the timer expects. */
const sleepMsMax = 60_000

export class Alarm {
  private cancel: (() => void) | undefined
  private at = Number.POSITIVE_INFINITY

  constructor(
    private readonly clock: QueueClock,
    private readonly ring: () => void,
  ) {}

  /** Sets the time, replacing the previous one; infinity for never. */
  set(at: number): void {
    if (at === this.at && this.cancel !== undefined) return
    this.stop()
    this.at = at
    if (at === Number.POSITIVE_INFINITY) return
    const delay = Math.min(Math.max(at - this.clock.now(), 0) + 1, sleepMsMax)
    this.cancel = this.clock.timers(delay, () => {
      this.cancel = undefined
      this.ring()
    })
  }

  stop(): void {
    this.cancel?.()
    this.cancel = undefined
  }
}
