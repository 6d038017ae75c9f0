/** Rates from a counter that is sampled at intervals. */
import type { Rate } from './figures.js'

/** As many steps as the sparkline has characters. */
const courseMax = 30
const windowMs = 60_000

interface Look {
  readonly at: number
  readonly count: number
}

export class Counter {
  #looks: Array<Look> = []

  /** A count below the last one means that the server was restarted: the rate begins anew. */
  look(at: number, count: number): void {
    const last = this.#looks[this.#looks.length - 1]
    if (last !== undefined && count < last.count) this.#looks = [{ at: last.at, count: 0 }]
    this.#looks.push({ at, count })
    const keep = this.#looks.findIndex((look) => look.at >= at - windowMs)
    const oldest = Math.min(keep, this.#looks.length - 1 - courseMax)
    if (oldest > 0) this.#looks.splice(0, oldest)
  }

  get rate(): Rate {
    const steps = this.#looks.slice(1).map((look, i) => perMinute(this.#looks[i] as Look, look))
    const last = this.#looks[this.#looks.length - 1]
    if (last === undefined || steps.length === 0) return { perMinute: undefined, course: [] }
    const first = this.#looks.find(({ at }) => at >= last.at - windowMs) as Look
    const from = first === last ? (this.#looks[this.#looks.length - 2] as Look) : first
    return { perMinute: perMinute(from, last), course: steps.slice(-courseMax) }
  }
}

const perMinute = (from: Look, to: Look): number => (to.at > from.at ? ((to.count - from.count) / (to.at - from.at)) * 60_000 : 0)
