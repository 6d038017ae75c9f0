/** A bounded buffer of live pages between the log, which pushes, and the loop, which takes. It reports a loss, so that the loop reads the log instead. */
import type { Page } from './ports.js'

export interface Inbox {
  readonly put: (page: Page) => void
  /** Waits for the next page; `behind` if pages were dropped, so that the log must be read; `over` after `end`. */
  readonly take: () => Promise<Page | 'behind' | 'over'>
  readonly end: () => void
}

export const inbox = (eventsMax: number): Inbox => {
  let pages: Array<Page> = []
  let events = 0
  let behind = false
  let over = false
  let wake: () => void = () => undefined

  return {
    put: (page) => {
      if (behind || over) return
      if (events + page.events.length > eventsMax) {
        // Everything is in the log, so the pages that wait here can be dropped, too.
        behind = true
        pages = []
        events = 0
      } else {
        pages.push(page)
        events += page.events.length
      }
      wake()
    },
    take: async () => {
      for (;;) {
        if (over) return 'over'
        if (behind) {
          behind = false
          return 'behind'
        }
        const page = pages.shift()
        if (page !== undefined) {
          events -= page.events.length
          return page
        }
        await new Promise<void>((resolve) => (wake = resolve))
      }
    },
    end: () => {
      over = true
      wake()
    },
  }
}
