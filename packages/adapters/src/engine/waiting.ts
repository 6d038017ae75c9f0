/** Claims that found nothing and wait for work, first come, first served. */
import type { ClaimItem } from './batch.js'

export class WaitingClaims {
  private items: Array<ClaimItem> = []

  get size(): number {
    return this.items.length
  }

  add(item: ClaimItem): void {
    this.items.push(item)
  }

  /** Puts back what was served by a batch that did not come to be. */
  putBack(items: ReadonlyArray<ClaimItem>): void {
    this.items = [...items, ...this.items]
  }

  /** Offers work to each in turn; those that `serve` takes leave the line, as do those that are over. */
  offer(serve: (item: ClaimItem) => boolean): void {
    if (this.items.length === 0) return
    this.items = this.items.filter((item) => !item.isOver() && !serve(item))
  }

  sweep(): void {
    if (this.items.length > 0) this.items = this.items.filter((item) => !item.isOver())
  }

  drain(): ReadonlyArray<ClaimItem> {
    const items = this.items
    this.items = []
    return items
  }
}
