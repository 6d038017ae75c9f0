/** Live pages between the log that pushes them and the loop that takes them: bounded, and never lossy in silence. */
import type { Page } from './ports.js'

export interface Inbox {
  readonly put: (page: Page) => void
  /** The next page; `behind` when some had to be left out, so that the log must be read; `over` after `end`. */
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
        // They are all in the log: what waits here may go as well.
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
