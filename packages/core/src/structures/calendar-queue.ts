/**
 * Items ordered by an instant, in buckets of ten seconds (a calendar queue: Brown 1988). A bucket is sorted only when it becomes the first, or when
 * it is filled at once. So an item with a distant instant is added and removed in O(1), however many there are.
 *
 * A bucket with many items is divided into a calendar queue of 100 ms, and a bucket of that into one of single milliseconds. So a bucket that becomes
 * the first has few items to sort, whatever their instants are: nothing waits for a sort of many thousand items.
 */
import { SmallSet } from './small-set.js'
import { SortedList, sortedByKey } from './sorted-list.js'

const bucketMsMax = 10_000
/** Number of buckets in a divided bucket. */
const parts = 100
/** An unsorted bucket with more items than this is divided. Sorting that many takes about a third of a millisecond. */
const unsortedMax = 512

type Bucket<T extends object> = SortedList<T> | SmallSet<T> | CalendarQueue<T>

export class CalendarQueue<T extends object> {
  /** By the instant divided by the span of a bucket. No bucket is empty. */
  private readonly buckets = new Map<number, Bucket<T>>()
  private readonly numbers = new SortedList<number>(
    (number) => number,
    (a, b) => a - b,
  )

  /** As in {@link SortedList}; instants are whole milliseconds. `bucketMs`: the span of a bucket. */
  constructor(
    private readonly instantOf: (item: T) => number,
    private readonly compareTies: (a: T, b: T) => number,
    private readonly bucketMs = bucketMsMax,
  ) {}

  /** Adds an item, which must not be in the queue. */
  add(item: T): void {
    const number = this.numberOf(item)
    let bucket = this.buckets.get(number)
    if (bucket === undefined) {
      this.numbers.add(number)
      // Items of the same millisecond cannot be divided.
      const isSorted = this.bucketMs === 1 || this.numbers.first() === number
      bucket = isSorted ? new SortedList(this.instantOf, this.compareTies) : new SmallSet()
      this.buckets.set(number, bucket)
    }
    bucket.add(item)
    if (bucket instanceof SmallSet && bucket.size > unsortedMax) this.buckets.set(number, this.divided(bucket))
  }

  /** Adds many items to an empty queue. Cost: O(n log n). */
  fill(items: ReadonlyArray<T>): void {
    if (this.buckets.size > 0) throw new Error('only an empty queue can be filled')
    const sorted = sortedByKey(items, this.instantOf)
    for (let from = 0, to = 0; from < sorted.length; from = to) {
      const number = this.numberOf(sorted[from] as T)
      while (to < sorted.length && this.numberOf(sorted[to] as T) === number) to++
      const bucket = new SortedList(this.instantOf, this.compareTies)
      bucket.fill(sorted.slice(from, to))
      this.numbers.add(number)
      this.buckets.set(number, bucket)
    }
  }

  remove(item: T): void {
    const number = this.numberOf(item)
    const bucket = this.buckets.get(number)
    if (bucket === undefined) return
    if (bucket instanceof SmallSet) bucket.delete(item)
    else bucket.remove(item)
    if (bucket instanceof CalendarQueue ? bucket.buckets.size > 0 : bucket.size > 0) return
    this.buckets.delete(number)
    this.numbers.remove(number)
    this.sortFirst()
  }

  first(): T | undefined {
    const bucket = this.buckets.get(this.numbers.first() ?? Number.NaN)
    return bucket instanceof SmallSet ? undefined : bucket?.first()
  }

  /** The items whose instant is not after `at`, in no order. */
  *until(at: number): Generator<T, void> {
    for (const number of this.numbers) {
      if (number * this.bucketMs > at) return
      const bucket = this.buckets.get(number) ?? none
      if (bucket instanceof CalendarQueue) yield* bucket.until(at)
      else for (const item of bucket) if (this.instantOf(item) <= at) yield item
    }
  }

  private numberOf(item: T): number {
    return Math.floor(this.instantOf(item) / this.bucketMs)
  }

  private divided(items: Iterable<T>): CalendarQueue<T> {
    const finer = new CalendarQueue(this.instantOf, this.compareTies, this.bucketMs / parts)
    for (const item of items) finer.add(item)
    return finer
  }

  /** A finer calendar queue knows its first item already. */
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
