/** The tasks that are claimed and wait for a free handler, in the order in which they were claimed. */
import type { Run } from './run.js'

/** So many are taken before they are forgotten: each time, the rest is copied. */
const forgetAt = 1_024

export class ClaimedAhead {
  private runs: Array<Run> = []
  /** Index of the first of `runs` that has not been taken: `shift` would be O(n). */
  private head = 0
  private waiting = 0

  /** Those that are still to be started. */
  get size(): number {
    return this.waiting
  }

  add(run: Run): void {
    this.runs.push(run)
    this.waiting++
  }

  /** The next one to start. Those that have lost their leases are passed over. */
  next(): Run | undefined {
    while (this.head < this.runs.length) {
      const run = this.runs[this.head++] as Run
      if (this.head >= forgetAt && this.head * 2 >= this.runs.length) this.forgetTaken()
      if (run.state === 'buffered') return run
    }
    this.forgetTaken()
    return undefined
  }

  /** One that was waiting waits no more: it was started, given back, or has lost its lease. */
  left(): void {
    this.waiting--
  }

  /** A worker that is never without work never comes to the end of the list. */
  private forgetTaken(): void {
    if (this.head === 0) return
    this.runs = this.runs.slice(this.head)
    this.head = 0
  }
}
