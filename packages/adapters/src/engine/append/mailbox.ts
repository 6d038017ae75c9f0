/** The items that wait to be decided, first in, first out. */
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

  /** When the first waiting command arrived; `undefined` if there is none. */
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

  /** Removes the first `count` items. */
  remove(count: number): void {
    this.items.splice(0, count)
  }

  /** Puts items back at the front. They were accepted before, so the limit does not apply. */
  putBack(items: ReadonlyArray<Item>): void {
    this.items = [...items, ...this.items]
  }

  drain(): ReadonlyArray<Item> {
    const items = this.items
    this.items = []
    return items
  }
}
