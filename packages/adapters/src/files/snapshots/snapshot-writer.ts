import { rm } from 'node:fs/promises'
import type { SnapshotHeader, SnapshotWriter } from '../../store/index.js'
import type { Kept } from './prune.js'
import { rowsLine } from './snapshot-format.js'
import { bytesOf } from './snapshot-page-bytes.js'
import { askSnapshots } from './thread-of-snapshots.js'
import { WriteBuffer } from './write-buffer.js'

/** How many full buffers may be on their way to the disk. */
const sentMax = 4

export interface SnapshotPlace {
  readonly dir: string
  /** The path of the unfinished file. */
  readonly path: string
  readonly kept: Kept
}

/**
 * `makeDurable` is called with the row files that the snapshot names, before it gets its name. `done` is called when the unfinished file is gone:
 * renamed by the commit, or deleted after an abort or a failure; with the row files that no snapshot names any more.
 */
export const writeSnapshot = async (
  header: SnapshotHeader,
  { dir, path, kept }: SnapshotPlace,
  makeDurable: (files: ReadonlySet<string>) => Promise<void>,
  done: (unnamed: ReadonlyArray<string>) => Promise<void>,
): Promise<SnapshotWriter> => {
  const buffer = new WriteBuffer()
  let pages = 0
  const files = new Set<string>()
  const sent: Array<Promise<unknown>> = []
  let ended = false

  const flush = async (): Promise<void> => {
    if (sent.length >= sentMax) await sent.shift()
    const writing = askSnapshots({ kind: 'append', path, bytes: buffer.take() })
    // Whoever awaits it gets the error.
    writing.catch(() => undefined)
    sent.push(writing)
  }

  const discard = async (): Promise<void> => {
    ended = true
    // If the thread has failed, the file is still there.
    await askSnapshots({ kind: 'abort', path }).catch(() => undefined)
    await rm(path, { force: true })
    await done([])
  }

  const guarded = async (body: () => Promise<void>): Promise<void> => {
    if (ended) throw new Error('This snapshot has already been committed or aborted.')
    try {
      await body()
    } catch (error) {
      await discard()
      throw error
    }
  }

  const page: SnapshotWriter['page'] = (next) =>
    guarded(async () => {
      bytesOf(next).forEach((bytes) => buffer.add(bytes))
      pages += 1
      for (const file of next.files ?? []) files.add(file)
      if (buffer.isFull) await flush()
    })

  const commit = (): Promise<void> =>
    guarded(async () => {
      const rows = Buffer.from(rowsLine(files))
      buffer.add(rows)
      await flush()
      await Promise.all(sent)
      await makeDurable(files)
      const unnamed = await askSnapshots({ kind: 'commit', path, dir, header, kept, pages, rows: rows.byteLength })
      ended = true
      await done(unnamed)
    })

  await guarded(() => askSnapshots({ kind: 'create', path, dir, header }).then(() => undefined))
  return { page, commit, abort: async () => (ended ? undefined : discard()) }
}
