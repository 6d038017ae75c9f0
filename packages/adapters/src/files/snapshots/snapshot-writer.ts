import { createHash } from 'node:crypto'
import { open, rename, rm, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { SnapshotHeader, SnapshotWriter } from '../../store/index.js'
import { footerLine, headerLine, rowsLine } from './snapshot-format.js'
import { bytesOf } from './snapshot-page-bytes.js'
import { syncFolder } from '../sync-folder.js'

/** Number of bytes that are gathered before they are written. As many may be in flight. */
const gatheredMax = 2 ** 20

export interface SnapshotPaths {
  readonly unfinished: string
  readonly finished: string
}

/**
 * `makeDurable` is called with the row files that the snapshot names, before it gets its name. `done` is called when the unfinished file is gone:
 * renamed by the commit, or deleted after an abort or a failure.
 */
export const writeSnapshot = async (
  header: SnapshotHeader,
  { unfinished, finished }: SnapshotPaths,
  makeDurable: (files: ReadonlySet<string>) => Promise<void>,
  done: () => void,
): Promise<SnapshotWriter> => {
  const handle: FileHandle = await open(unfinished, 'wx', 0o600)
  const hash = createHash('sha256')
  let gathered: Array<Uint8Array> = [Buffer.from(headerLine(header))]
  let gatheredBytes = 0
  let pages = 0
  const files = new Set<string>()
  let writing: Promise<void> = Promise.resolve()
  let ended = false

  /** Waits only for the previous write: on a busy disk, a single write can take long. */
  const flush = async (): Promise<void> => {
    await writing
    const bytes = Buffer.concat(gathered)
    gathered = []
    gatheredBytes = 0
    hash.update(bytes)
    // Synced in parts: one sync of a hundred megabytes would delay the syncs of the log by half a second.
    writing = handle.appendFile(bytes).then(() => handle.datasync())
    // The next `await writing` rejects with it.
    writing.catch(() => undefined)
  }

  const discard = async (): Promise<void> => {
    ended = true
    await handle.close().catch(() => undefined)
    await rm(unfinished, { force: true })
    done()
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
      for (const bytes of bytesOf(next)) {
        gathered.push(bytes)
        gatheredBytes += bytes.byteLength
      }
      pages += 1
      for (const file of next.files ?? []) files.add(file)
      if (gatheredBytes > gatheredMax) await flush()
    })

  const commit = (): Promise<void> =>
    guarded(async () => {
      const rows = Buffer.from(rowsLine(files))
      gathered.push(rows)
      await flush()
      await writing
      await handle.appendFile(footerLine({ pages, rows: rows.byteLength, sha256: hash.digest('hex') }))
      await makeDurable(files)
      await handle.sync()
      await handle.close()
      await rename(unfinished, finished)
      ended = true
      await syncFolder(dirname(finished))
      done()
    })

  return { page, commit, abort: async () => (ended ? undefined : discard()) }
}
