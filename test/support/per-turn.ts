/** Counts what is done in each turn of the event loop, such as reading pages of a log. */
import type { EventStore } from '@daybook/adapters/store'

export interface PagesPerTurn {
  /** The store, with its pages counted. */
  readonly store: EventStore
  /** Calls `body`. Returns how many pages were read meanwhile, and the largest number in one turn. */
  readonly during: (body: () => Promise<void>) => Promise<{ readonly pages: number; readonly most: number }>
}

/** Calls `body`. Returns by how much `count` grew meanwhile, and the most in one turn. */
export const mostPerTurn = async (count: () => number, body: () => Promise<void>): Promise<{ readonly sum: number; readonly most: number }> => {
  const before = count()
  let [most, last, isOver] = [0, before, false]
  const turn = (): void => {
    most = Math.max(most, count() - last)
    last = count()
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  await body()
  isOver = true
  // The last turn is not over yet.
  return { sum: count() - before, most: Math.max(most, count() - last) }
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
      const { sum, most } = await mostPerTurn(() => pages, body)
      return { pages: sum, most }
    },
  }
}
