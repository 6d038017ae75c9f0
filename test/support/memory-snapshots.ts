/** A snapshot store in memory whose contents can be inspected and damaged, and which can be made to fail. */
import { joinBases, type SnapshotHeader, type SnapshotStore } from '@daybook/adapters/store'
import { mergeSnapshots, type SnapshotPage } from '@daybook/core'

interface Kept {
  header: SnapshotHeader
  pages: Array<SnapshotPage>
}

export interface MemorySnapshots extends SnapshotStore {
  /** Newest last. */
  readonly kept: Array<Kept>
  failing: 'create' | 'page' | 'commit' | 'merge' | undefined
  /** Delay of each page, in milliseconds. */
  pageMs: number
  /** No page is written before this resolves. */
  held: Promise<void> | undefined
}

export const memorySnapshots = (): MemorySnapshots => {
  const kept: Array<Kept> = []
  const failing = (at: MemorySnapshots['failing']): void => {
    if (store.failing === at) throw new Error(`no ${at} now`)
  }
  const store: MemorySnapshots = {
    kept,
    failing: undefined,
    pageMs: 0,
    held: undefined,
    create: async (header) => {
      failing('create')
      const pages: Array<SnapshotPage> = []
      return {
        page: async (page) => {
          failing('page')
          await store.held
          if (store.pageMs > 0) await new Promise((resolve) => setTimeout(resolve, store.pageMs))
          pages.push(page)
        },
        commit: async () => {
          failing('commit')
          kept.push({ header, pages })
        },
        abort: async () => undefined,
      }
    },
    merge: async ({ stream, revision, eventId }) => {
      failing('merge')
      const merge = mergeSnapshots()
      const pages: Array<SnapshotPage> = []
      const find = (wanted: Pick<SnapshotHeader, 'revision' | 'eventId'>) => kept.findLast(({ header }) => header.stream === stream && header.revision === wanted.revision && header.eventId === wanted.eventId)
      const increment = find({ revision, eventId })
      if (increment === undefined) throw new Error('it is gone')
      for (let next: Kept | undefined = increment; next !== undefined; next = next.header.base && find(next.header.base)) {
        if (next !== increment) merge.base()
        for (const page of next.pages) pages.push(...merge.page(page))
      }
      pages.push(...merge.finish())
      const { base: _, ...header } = increment.header
      Object.assign(increment, { header, pages })
    },
    list: async (stream, foldVersion, revisionMax) => {
      const ours = kept.filter(({ header }) => header.stream === stream)
      const fits = ({ header }: Kept): boolean => header.foldVersion === foldVersion && header.revision <= revisionMax
      const { usable, baseless } = joinBases(
        ours.filter(fits).map(({ header, pages }) => ({
          header,
          pages: async function* () {
            yield* pages
          },
        })),
      )
      const others = [...ours.filter((each) => !fits(each)), ...baseless]
      return { usable: usable.toReversed(), skipped: others.map(({ header }) => ({ name: `@${header.revision}`, reason: 'it does not fit' })) }
    },
  }
  return store
}
