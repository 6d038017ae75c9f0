/** The claimed tasks that wait for a free handler, in the order of their claims. */
import type { Run } from './run.js'

/** After this many taken tasks they are removed from the array, which copies the rest. */
const forgetAt = 1_024

export class ClaimedAhead {
  private runs: Array<Run> = []
  /** Index of the first of `runs` that has not been taken: `shift` would be O(n). */
  private head = 0
  private waiting = 0

  /** Number of tasks that are still to be started. */
  get size(): number {
    return this.waiting
  }

  add(run: Run): void {
    this.runs.push(run)
    this.waiting++
  }

  /** The next task to start. Tasks that have lost their leases are skipped. */
  next(): Run | undefined {
    while (this.head < this.runs.length) {
      const run = this.runs[this.head++] as Run
      if (this.head >= forgetAt && this.head * 2 >= this.runs.length) this.forgetTaken()
      if (run.state === 'buffered') return run
    }
    this.forgetTaken()
    return undefined
  }

  /** Called when a waiting task was started, was given back, or lost its lease. */
  left(): void {
    this.waiting--
  }

  /** Removes the taken tasks from the array. The array of a busy worker is never empty. */
  private forgetTaken(): void {
    if (this.head === 0) return
    this.runs = this.runs.slice(this.head)
    this.head = 0
  }
}
