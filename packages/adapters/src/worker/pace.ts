/** How quickly this worker starts and finishes tasks: what it may claim ahead follows from that. */
const forgetMs = 500

export class Pace {
  #perMs = 0
  #started = 0
  #since = performance.now()
  #averageMs = Number.NaN

  start(): void {
    this.#started++
  }

  finish(tookMs: number): void {
    this.#averageMs = Number.isNaN(this.#averageMs) ? tookMs : this.#averageMs + (tookMs - this.#averageMs) / 16
  }

  /** Average duration of a handler in milliseconds; NaN before the first has ended. */
  get averageMs(): number {
    return this.#averageMs
  }

  /** Starts per millisecond. Grows at once, so that a backlog is met quickly; forgets within a second or two. */
  measure(): number {
    const now = performance.now()
    const elapsed = now - this.#since
    if (elapsed >= 1) {
      const latest = this.#started / elapsed
      this.#perMs = Math.max(latest, latest + (this.#perMs - latest) * Math.exp(-elapsed / forgetMs))
      this.#started = 0
      this.#since = now
    }
    return this.#perMs
  }
}
