/** How long handlers take, as a moving average. It determines how many tasks are claimed ahead. */
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
   * How many tasks `concurrency` handlers start within `ms` milliseconds, at most `max`.
   *
   * Computed by Little's law from the duration alone. Counting starts or ends over some time would mistake a burst, as when all handlers start at
   * once, for the pace.
   */
  within(ms: number, concurrency: number, max: number): number {
    const count = (ms * concurrency) / this.average
    return Number.isNaN(count) ? 0 : Math.min(max, Math.floor(count))
  }
}
