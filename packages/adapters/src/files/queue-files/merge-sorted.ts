/**
 * Merges sorted runs into one sorted sequence, one item at a time, because sorting a million items at once would be a long pause. Cost: O(log runs)
 * per item.
 */
export const mergeSorted = function* <T>(runs: ReadonlyArray<ReadonlyArray<T>>, compare: (a: T, b: T) => number): Generator<T, void> {
  // A heap: the next item of the run at `i` is not after those of the runs at `2i + 1` and `2i + 2`.
  const heap: Array<Run<T>> = []
  for (const items of runs) if (items.length > 0) heap.push({ items, next: 0 })
  const isBefore = (a: Run<T>, b: Run<T>): boolean => compare(a.items[a.next] as T, b.items[b.next] as T) < 0

  const settle = (from: number): void => {
    for (let at = from; ; ) {
      const left = at * 2 + 1
      let least = at
      for (const child of [left, left + 1]) if (child < heap.length && isBefore(heap[child] as Run<T>, heap[least] as Run<T>)) least = child
      if (least === at) return
      const moved = heap[at] as Run<T>
      heap[at] = heap[least] as Run<T>
      heap[least] = moved
      at = least
    }
  }

  for (let at = heap.length >> 1; at >= 0; at--) settle(at)
  for (let first = heap[0]; first !== undefined; first = heap[0]) {
    yield first.items[first.next++] as T
    if (first.next === first.items.length) {
      const last = heap.pop() as Run<T>
      if (heap.length === 0) return
      heap[0] = last
    }
    settle(0)
  }
}

interface Run<T> {
  readonly items: ReadonlyArray<T>
  /** Index of its next item. */
  next: number
}
