/** How long handlers take, as a moving average. How much is claimed ahead follows from that. */
export class Pace {
  private average = Number.NaN

  finish(tookMs: number): void {
    this.average = Number.isNaN(this.average) ? tookMs : this.average + (tookMs - this.average) / 16
  }

  /** Average duration of a handler in milliseconds; NaN before the first has ended. */
  get averageMs(): number {
    return this.average
  }

  /**
   * How many tasks `concurrency` handlers begin within `ms` milliseconds, at most `max`.
   *
   * By Little's law, from the duration alone. Counting what begins or ends in a while would mistake a burst, as
   * when all handlers begin at once, for the pace.
   */
  within(ms: number, concurrency: number, max: number): number {
    const count = (ms * concurrency) / this.average
    return Number.isNaN(count) ? 0 : Math.min(max, Math.floor(count))
  }
}
