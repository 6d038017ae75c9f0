/** The sum of many sketches, and its quantiles. It has a slot for each interval, so that adding is cheap: reports add millions of counts. */
import { ends } from '../read-models/sketch.js'

/** The time that represents an interval, in milliseconds. */
const timeOf = (interval: number): number => {
  const first = interval === 0 ? 0 : (ends[interval - 1] as number) + 1
  return (first + (ends[interval] as number)) / 2
}

const [comma, zero, nine] = [44, 48, 57]

export class Distribution {
  private readonly counts = new Float64Array(ends.length)
  private all = 0

  /** Number of times that were added. */
  get count(): number {
    return this.all
  }

  /** Adds a sketch: a list of interval, count, interval, count, …. */
  addText(text: string): void {
    let [number, interval, isCount, hasDigits] = [0, 0, false, false]
    // Parsed by hand: `JSON.parse` would make a list for each sketch.
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i)
      if (code >= zero && code <= nine) {
        number = number * 10 + code - zero
        hasDigits = true
      } else if (hasDigits && (code === comma || i === text.length - 1)) {
        if (isCount) this.add(interval, number)
        else interval = number
        isCount = !isCount
        number = 0
        hasDigits = false
      }
    }
  }

  add(interval: number, count: number): void {
    if (interval >= this.counts.length) return
    this.counts[interval] = (this.counts[interval] as number) + count
    this.all += count
  }

  /**
   * Quantiles by nearest rank: for each share, the least time that at least this share of the times does not exceed. In milliseconds. `shares` must
   * grow. `undefined` without times.
   */
  quantiles(shares: ReadonlyArray<number>): ReadonlyArray<number> | undefined {
    if (this.all === 0) return undefined
    let interval = 0
    let passed = this.counts[0] as number
    return shares.map((share) => {
      const rank = Math.max(1, Math.ceil(share * this.all))
      while (passed < rank && interval < this.counts.length - 1) passed += this.counts[++interval] as number
      return timeOf(interval)
    })
  }
}
