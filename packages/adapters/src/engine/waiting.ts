/** The waiting claims (long polls), first come, first served. */
import type { ClaimItem } from './batch.js'

export class WaitingClaims {
  private items: Array<ClaimItem> = []
  private offerDue = false

  get size(): number {
    return this.items.length
  }

  /** Whether there may be tasks for them although no command would hand them out. */
  get isOfferDue(): boolean {
    return this.offerDue
  }

  /** Called when the available tasks are being offered. */
  clearOffer(): void {
    this.offerDue = false
  }

  /** Requests a new offer, because tasks may have become available. */
  requestOffer(): void {
    this.offerDue = this.items.length > 0
  }

  add(item: ClaimItem): void {
    this.items.push(item)
  }

  /** Puts back claims that were served by a batch that was rolled back. */
  putBack(items: ReadonlyArray<ClaimItem>): void {
    this.items = [...items, ...this.items]
    this.offerDue = this.items.length > 0
  }

  /** Offers tasks to each claim in turn. Claims that are served or over are removed. */
  offer(serve: (item: ClaimItem) => 'served' | 'empty' | 'full'): void {
    if (this.items.length === 0) return
    this.items = this.items.filter((item) => {
      if (item.isOver()) return false
      // The later claims wait for the next batch, so that none is served before an earlier one.
      if (this.offerDue) return true
      const verdict = serve(item)
      if (verdict === 'full') this.offerDue = true
      return verdict !== 'served'
    })
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
