/** What waits to be decided, first come, first served. */
import type { Item } from './batch.js'

export class Mailbox {
  private items: Array<Item> = []

  constructor(readonly sizeMax: number) {}

  get size(): number {
    return this.items.length
  }

  get isFull(): boolean {
    return this.items.length >= this.sizeMax
  }

  /** When the first came of those that wait; `undefined` when none does. */
  get oldestAt(): number | undefined {
    return this.items[0]?.arrivedAt
  }

  put(item: Item): void {
    this.items.push(item)
  }

  /** `index` is below `size`. */
  at(index: number): Item {
    return this.items[index] as Item
  }

  /** Removes the first ones. */
  remove(count: number): void {
    this.items.splice(0, count)
  }

  /** In front of all others: they were here before. No longer bounded then, as they were let in once. */
  putBack(items: ReadonlyArray<Item>): void {
    this.items = [...items, ...this.items]
  }

  drain(): ReadonlyArray<Item> {
    const items = this.items
    this.items = []
    return items
  }
}
