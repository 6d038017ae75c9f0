/** Claims that found nothing and wait for work, first come, first served. */
import type { ClaimItem } from './batch.js'

export class WaitingClaims {
  private items: Array<ClaimItem> = []
  private offerDue = false

  get size(): number {
    return this.items.length
  }

  /** There may be work for those in line, and no command that would have it handed out. */
  get isOfferDue(): boolean {
    return this.offerDue
  }

  /** What there is will be offered to them now. */
  clearOffer(): void {
    this.offerDue = false
  }

  /** There is something new: whoever waits is to be asked again. */
  requestOffer(): void {
    this.offerDue = this.items.length > 0
  }

  add(item: ClaimItem): void {
    this.items.push(item)
  }

  /** Puts back what was served by a batch that did not come to be. */
  putBack(items: ReadonlyArray<ClaimItem>): void {
    this.items = [...items, ...this.items]
    this.offerDue = this.items.length > 0
  }

  /** Offers work to each in turn; those that are served leave the line, as do those that are over. */
  offer(serve: (item: ClaimItem) => 'served' | 'empty' | 'full'): void {
    if (this.items.length === 0) return
    this.items = this.items.filter((item) => {
      if (item.isOver()) return false
      // Those behind wait for the next batch, so that nobody is served before who came first.
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
