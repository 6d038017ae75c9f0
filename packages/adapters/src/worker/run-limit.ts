/**
 * Notices handlers that run longer than they may. One timer is enough: all have the same limit, so the first to reach it is the
 * one that began first, and a set is walked in the order in which its members came in.
 */
import type { Run } from './run.js'

/** Longest time of a timer, in milliseconds; Node's own limit is 2³¹ − 1. */
const sleepMsMax = 2_000_000_000

export class RunLimit {
  private timer: ReturnType<typeof setTimeout> | undefined

  constructor(
    /** In the order of their start. */
    private readonly running: ReadonlySet<Run>,
    private readonly maxRunMs: number,
    /** May be called again while the run goes on. */
    private readonly reached: (run: Run) => void,
  ) {}

  /** Called when a handler has started. */
  watch(): void {
    if (this.timer === undefined && this.maxRunMs < Number.POSITIVE_INFINITY) this.sleep(this.maxRunMs)
  }

  close(): void {
    clearTimeout(this.timer)
  }

  private sleep(ms: number): void {
    this.timer = setTimeout(this.look, Math.min(sleepMsMax, ms))
  }

  private readonly look = (): void => {
    this.timer = undefined
    const now = performance.now()
    for (const run of this.running) {
      const leftMs = run.startedAt + this.maxRunMs - now
      if (leftMs > 0) return this.sleep(leftMs)
      this.reached(run)
    }
  }
}
