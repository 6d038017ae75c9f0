/** Snapshots in memory, to look into, to damage, and to fail. */
import type { SnapshotHeader, SnapshotStore } from '@daybook/adapters/store'

interface Kept {
  header: SnapshotHeader
  lines: Array<string>
}

export interface MemorySnapshots extends SnapshotStore {
  /** Newest last. */
  readonly kept: Array<Kept>
  failing: 'create' | 'line' | 'commit' | undefined
  /** Each line takes so long. */
  lineMs: number
}

export const memorySnapshots = (): MemorySnapshots => {
  const kept: Array<Kept> = []
  const failing = (at: MemorySnapshots['failing']): void => {
    if (store.failing === at) throw new Error(`no ${at} now`)
  }
  const store: MemorySnapshots = {
    kept,
    failing: undefined,
    lineMs: 0,
    create: async (header) => {
      failing('create')
      const lines: Array<string> = []
      return {
        line: async (text) => {
          failing('line')
          if (store.lineMs > 0) await new Promise((resolve) => setTimeout(resolve, store.lineMs))
          lines.push(text)
        },
        commit: async () => {
          failing('commit')
          kept.push({ header, lines })
        },
        abort: async () => undefined,
      }
    },
    list: async (stream, foldVersion, revisionMax) => {
      const ours = kept.filter(({ header }) => header.stream === stream).reverse()
      const fits = ({ header }: Kept): boolean => header.foldVersion === foldVersion && header.revision <= revisionMax
      return {
        usable: ours.filter(fits).map(({ header, lines }) => ({
          header,
          lines: async function* () {
            yield [...lines]
          },
        })),
        skipped: ours.filter((each) => !fits(each)).map(({ header }) => ({ name: `@${header.revision}`, reason: 'it does not fit' })),
      }
    },
  }
  return store
}
