/** A snapshot store in memory whose contents can be inspected and damaged, and which can be made to fail. */
import { joinBases, type SnapshotHeader, type SnapshotStore } from '@daybook/adapters/store'
import type { SnapshotPage } from '@daybook/core'

interface Kept {
  header: SnapshotHeader
  pages: Array<SnapshotPage>
}

export interface MemorySnapshots extends SnapshotStore {
  /** Newest last. */
  readonly kept: Array<Kept>
  failing: 'create' | 'page' | 'commit' | undefined
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
