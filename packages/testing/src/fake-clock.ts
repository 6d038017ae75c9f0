/** A clock that stands still until it is moved. */
import type { Timers } from '@daybook/adapters/embedded'

interface Timer {
  readonly at: number
  readonly ring: () => void
}

export class FakeClock {
  private readonly waiting = new Set<Timer>()

  /** `time`: milliseconds since 1970. */
  constructor(private time: number) {}

  readonly now = (): number => this.time

  readonly timers: Timers = (ms, ring) => {
    if (ms === Number.POSITIVE_INFINITY) return () => undefined
    const timer = { at: this.time + Math.max(0, ms), ring }
    this.waiting.add(timer)
    return () => this.waiting.delete(timer)
  }

  /** When the next timer rings, in milliseconds since 1970; infinity for never. */
  get nextAt(): number {
    return Math.min(Number.POSITIVE_INFINITY, ...[...this.waiting].map(({ at }) => at))
  }

  /** Moves on to `target`, from timer to timer. After each timer, `settle` waits until everything that it caused is done. */
  async moveTo(target: number, settle: () => Promise<void>): Promise<void> {
    await settle()
    for (let at = this.nextAt; at <= target; at = this.nextAt) {
      this.time = Math.max(this.time, at)
      for (const timer of [...this.waiting].filter((each) => each.at <= this.time)) {
        if (this.waiting.delete(timer)) timer.ring()
      }
      await settle()
    }
    this.time = Math.max(this.time, target)
    await settle()
  }
}
