/** The timer of an engine, for the next timer of the state. */

/** It fires at least once a minute: if the wall clock is set forward, leases end earlier than the timer expects. */
const sleepMsMax = 60_000

export class Alarm {
  private timer: NodeJS.Timeout | undefined
  private at = Number.POSITIVE_INFINITY

  constructor(
    /** The queue's time. */
    private readonly now: () => number,
    private readonly ring: () => void,
  ) {}

  /** Sets the time, replacing the former one; infinity for never. */
  set(at: number): void {
    if (at === this.at && this.timer !== undefined) return
    clearTimeout(this.timer)
    this.timer = undefined
    this.at = at
    if (at === Number.POSITIVE_INFINITY) return
    const delay = Math.min(Math.max(at - this.now(), 0) + 1, sleepMsMax)
    this.timer = setTimeout(() => {
      this.timer = undefined
      this.ring()
    }, delay)
  }

  stop(): void {
    clearTimeout(this.timer)
  }
}
