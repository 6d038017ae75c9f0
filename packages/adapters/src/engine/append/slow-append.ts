/** Reports appends that the store does not answer, as when a disk hangs or a cluster has no leader. Commands wait for them without limit, so somebody must be told. */
import type { Availability } from './availability.js'

/** An append that is not answered after this time is reported, in milliseconds. */
const slowAppendMs = 10_000

export class SlowAppends {
  /** Number of appends that were reported and are not answered yet. */
  private open = 0

  constructor(
    private readonly availability: Availability,
    private readonly warn: (message: string) => void,
  ) {}

  /** Resolves as the append does. Until then, and from `slowAppendMs` on, the queue counts as unavailable. */
  async watch<A>(append: Promise<A>): Promise<A> {
    const begunAt = performance.now()
    let isReported = false
    const timer = setTimeout(() => {
      isReported = true
      this.report()
    }, slowAppendMs)
    timer.unref()
    try {
      return await append
    } finally {
      clearTimeout(timer)
      if (isReported) this.answered(performance.now() - begunAt)
    }
  }

  private report(): void {
    const reason = `the store has not answered an append for ${slowAppendMs / 1_000} s, and commands wait for it: look at its disk, or at its cluster`
    this.availability.doubted(reason)
    if (this.open++ === 0) this.warn(reason)
  }

  private answered(afterMs: number): void {
    if (--this.open > 0) return
    this.availability.restored()
    this.warn(`the store has answered an append after ${Math.round(afterMs / 1_000)} s`)
  }
}
