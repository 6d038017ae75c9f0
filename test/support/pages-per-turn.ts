/** Counts the pages of a log that are read in each turn of the event loop. */
import type { EventStore } from '@daybook/adapters/store'

export interface PagesPerTurn {
  /** The store, with its pages counted. */
  readonly store: EventStore
  /** Calls `body`. Returns how many pages were read meanwhile, and the largest number in one turn. */
  readonly during: (body: () => Promise<void>) => Promise<{ readonly pages: number; readonly most: number }>
}

export const pagesPerTurn = (inner: EventStore): PagesPerTurn => {
  let pages = 0
  const store: EventStore = {
    ...inner,
    read: async function* (stream, options) {
      for await (const page of inner.read(stream, options)) {
        pages++
        yield page
      }
    },
  }
  return {
    store,
    during: async (body) => {
      const before = pages
      let [most, last, isOver] = [0, pages, false]
      const turn = (): void => {
        most = Math.max(most, pages - last)
        last = pages
        if (!isOver) setImmediate(turn)
      }
      setImmediate(turn)
      await body()
      isOver = true
      return { pages: pages - before, most }
    },
  }
}
