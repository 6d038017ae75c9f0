/**
 * Items by an instant, in buckets of ten seconds (a calendar queue: Brown 1988). Only buckets that have been the first are kept in order, so
 * an item whose instant is far away is added and removed in O(1), however many there are.
 */
import { SmallSet } from './small-set.js'
import { SortedList, sortedByKey } from './sorted-list.js'

const bucketMs = 10_000

export class CalendarQueue<T extends object> {
  /** By the number of their ten seconds. None is empty. */
  private readonly buckets = new Map<number, SortedList<T> | SmallSet<T>>()
  private readonly numbers = new SortedList<number>(
    (number) => number,
    (a, b) => a - b,
  )

  /** As in {@link SortedList}; instants are in milliseconds. */
  constructor(
    private readonly instantOf: (item: T) => number,
    private readonly compareTies: (a: T, b: T) => number,
  ) {}

  /** The item must not be in it. */
  add(item: T): void {
    const number = this.numberOf(item)
    let bucket = this.buckets.get(number)
    if (bucket === undefined) {
      this.numbers.add(number)
      bucket = this.numbers.first() === number ? new SortedList(this.instantOf, this.compareTies) : new SmallSet()
      this.buckets.set(number, bucket)
    }
    bucket.add(item)
  }

  remove(item: T): void {
    const number = this.numberOf(item)
    const bucket = this.buckets.get(number)
    if (bucket instanceof SortedList) bucket.remove(item)
    else bucket?.delete(item)
    if (bucket?.size !== 0) return
    this.buckets.delete(number)
    this.numbers.remove(number)
    this.sortFirst()
  }

  first(): T | undefined {
    const bucket = this.buckets.get(this.numbers.first() ?? Number.NaN)
    return bucket instanceof SortedList ? bucket.first() : undefined
  }

  /** The items whose instant is not after `at`, in no order. */
  *until(at: number): Generator<T, void> {
    for (const number of this.numbers) {
      if (number * bucketMs > at) return
      for (const item of this.buckets.get(number) ?? none) if (this.instantOf(item) <= at) yield item
    }
  }

  private numberOf(item: T): number {
    return Math.floor(this.instantOf(item) / bucketMs)
  }

  private sortFirst(): void {
    const number = this.numbers.first()
    const bucket = number === undefined ? undefined : this.buckets.get(number)
    if (number === undefined || !(bucket instanceof SmallSet)) return
    const sorted = new SortedList(this.instantOf, this.compareTies)
    sorted.fill(sortedByKey([...bucket], this.instantOf))
    this.buckets.set(number, sorted)
  }
}
const none: ReadonlyArray<never> = []
