/** The batches being appended, in the order in which they settle. */
import type { Batch } from './batch.js'

export class InFlight {
  private batches: Array<Batch> = []

  get size(): number {
    return this.batches.length
  }

  get first(): Batch | undefined {
    return this.batches[0]
  }

  get last(): Batch | undefined {
    return this.batches[this.batches.length - 1]
  }

  get all(): ReadonlyArray<Batch> {
    return this.batches
  }

  add(batch: Batch): void {
    this.batches.push(batch)
  }

  removeFirst(): void {
    this.batches.shift()
  }

  /** Does not change an array that `all` has returned before. */
  clear(): void {
    this.batches = []
  }

  /** Resolves when every batch has its result. */
  allDone(): Promise<unknown> {
    return Promise.all(this.batches.map((batch) => batch.whenDone))
  }
}
