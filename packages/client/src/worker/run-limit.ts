/**
 * Finds handlers that run longer than they may. One timer is enough for the worker's own limit. It is the same for all handlers, so the one that
 * started first reaches it first, and a set is walked in the order of insertion. A task with an earlier limit of its own has its own timer.
 */
import type { Run } from './run.js'

/** Longest time of a timer, in milliseconds; Node's own limit is 2³¹ − 1. */
const sleepMsMax = 2_000_000_000

export class RunLimit {
  private timer: ReturnType<typeof setTimeout> | undefined
  private readonly own = new Map<Run, ReturnType<typeof setTimeout>>()

  constructor(
    /** In the order of their start. */
    private readonly running: ReadonlySet<Run>,
    private readonly maxRunMs: number,
    /** Called when a run has reached its limit; perhaps again while the run goes on. */
    private readonly reached: (run: Run) => void,
  ) {}

  /** Called when a handler has started. */
  watch(run: Run): void {
    if (this.timer === undefined && this.maxRunMs < Number.POSITIVE_INFINITY) this.sleep(this.maxRunMs)
    if (run.endBy >= Math.min(run.startedAt + this.maxRunMs, run.startedAt + sleepMsMax)) return
    this.own.set(run, setTimeout(() => this.reached(run), Math.max(0, run.endBy - performance.now())))
  }

  /** Called when a watched handler has ended, or is no longer waited for. */
  ended(run: Run): void {
    if (this.own.size === 0) return
    clearTimeout(this.own.get(run))
    this.own.delete(run)
  }

  close(): void {
    clearTimeout(this.timer)
    for (const timer of this.own.values()) clearTimeout(timer)
  }

  private sleep(ms: number): void {
    // A run that began while the others were looked at has set one already.
    clearTimeout(this.timer)
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
