/**
 * Gathers items into batches. If nothing is in flight, an item is sent at the end of the event loop's turn. While
 * batches are in flight, items are gathered and sent as another batch when there are enough for a request. There is
 * no timer, so an idle batcher adds no delay.
 */

// The real `setImmediate`, even in tests with fake timers.
const { setImmediate } = globalThis

export interface BatchLimits {
  /** Maximum number of items in one batch. */
  readonly itemsMax: number
  /** Maximum number of bytes in one batch; a larger item is sent alone. */
  readonly bytesMax: number
  /** Maximum number of batches in flight. */
  readonly inFlightMax: number
  /** Minimum number of items per part when a batch is split over the free slots. */
  readonly splitMin: number
}

export interface Batchable {
  readonly bytes: number
}

export class Batcher<I extends Batchable> {
  private items: Array<I> = []
  /** Index of the first of `items` that is still waiting: `shift` would be O(n). */
  private head = 0
  private inFlight = 0
  private itemsInFlight = 0
  private scheduled = false
  private idleWaiters: Array<() => void> = []

  constructor(
    private readonly limits: BatchLimits,
    /** Sends a batch, answers each of its items, and resolves; must not reject. */
    private readonly send: (batch: ReadonlyArray<I>) => Promise<void>,
  ) {}

  get waiting(): number {
    return this.items.length - this.head
  }

  /** Items waiting or in flight. */
  get size(): number {
    return this.waiting + this.itemsInFlight
  }

  push(item: I): void {
    this.items.push(item)
    if (this.scheduled || this.inFlight >= this.limits.inFlightMax) return
    this.scheduled = true
    // Not a microtask: callers that were woken by one answer call again within this turn and get into the same batch.
    setImmediate(this.flush)
  }

  /** Resolves when nothing is waiting or in flight. */
  idle(): Promise<void> {
    if (this.size === 0) return Promise.resolve()
    return new Promise((resolve) => this.idleWaiters.push(resolve))
  }

  private readonly flush = (): void => {
    this.scheduled = false
    const { inFlightMax, itemsMax, splitMin } = this.limits
    while (this.waiting > 0 && this.inFlight < inFlightMax && this.isWorthARequest()) {
      const share = Math.ceil(this.waiting / (inFlightMax - this.inFlight))
      this.dispatch(this.take(Math.min(itemsMax, Math.max(splitMin, share))))
    }
  }

  /**
   * A request costs both sides more than an item. Every answer brings back as many callers as it served. Without
   * this rule a few large batches and many batches of one item each would continue side by side for ever.
   */
  private isWorthARequest(): boolean {
    return this.inFlight === 0 || this.waiting * 2 >= this.itemsInFlight / this.inFlight
  }

  private take(count: number): ReadonlyArray<I> {
    const { items } = this
    const from = this.head
    const until = Math.min(items.length, from + count)
    let to = from
    for (let bytes = 0; to < until; to++) {
      bytes += (items[to] as I).bytes
      if (bytes > this.limits.bytesMax && to > from) break
    }
    const batch = from === 0 && to === items.length ? items : items.slice(from, to)
    if (to === items.length) {
      this.items = []
      this.head = 0
    } else if (to > 4_096 && to * 2 > items.length) {
      this.items = items.slice(to)
      this.head = 0
    } else {
      this.head = to
    }
    return batch
  }

  private dispatch(batch: ReadonlyArray<I>): void {
    this.inFlight++
    this.itemsInFlight += batch.length
    void this.send(batch).then(() => {
      this.inFlight--
      this.itemsInFlight -= batch.length
      // The callers that were just answered may call again in this turn: they get into the next batch.
      if (!this.scheduled && this.waiting > 0) {
        this.scheduled = true
        setImmediate(this.flush)
      }
      if (this.size === 0 && this.idleWaiters.length > 0) {
        const waiters = this.idleWaiters
        this.idleWaiters = []
        for (const resolve of waiters) resolve()
      }
    })
  }
}
