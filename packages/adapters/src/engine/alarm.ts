/** The one timer of an engine: it rings when the state changes by itself. */

/** At least once an hour: a wall clock that is set forward makes leases end earlier than the timer thinks. */
const sleepMaxMs = 3_600_000

export class Alarm {
  private timer: NodeJS.Timeout | undefined
  private at = Number.POSITIVE_INFINITY

  constructor(
    private readonly clock: () => number,
    private readonly ring: () => void,
  ) {}

  /** Rings at this time, and not at the one set before; infinity for never. */
  set(at: number): void {
    if (at === this.at && this.timer !== undefined) return
    clearTimeout(this.timer)
    this.timer = undefined
    this.at = at
    if (at === Number.POSITIVE_INFINITY) return
    const delay = Math.min(Math.max(at - this.clock(), 0) + 1, sleepMaxMs)
    this.timer = setTimeout(() => {
      this.timer = undefined
      this.ring()
    }, delay)
  }

  stop(): void {
    clearTimeout(this.timer)
  }
}
