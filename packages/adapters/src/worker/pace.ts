/** How long handlers take of late: what may be claimed ahead follows from that. */
export class Pace {
  private _averageMs = Number.NaN

  finish(tookMs: number): void {
    this._averageMs = Number.isNaN(this._averageMs) ? tookMs : this._averageMs + (tookMs - this._averageMs) / 16
  }

  /** Average duration of a handler in milliseconds; NaN before the first has ended. */
  get averageMs(): number {
    return this._averageMs
  }

  /**
   * How many tasks so many handlers begin within so many milliseconds, at most `max`.
   *
   * By Little's law, from the duration alone. Counting what begins or ends in a while would take a burst,
   * as when all handlers begin at once, for the pace.
   */
  within(ms: number, concurrency: number, max: number): number {
    const count = (ms * concurrency) / this._averageMs
    return Number.isNaN(count) ? 0 : Math.min(max, Math.floor(count))
  }
}
