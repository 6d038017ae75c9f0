import { createHash } from 'node:crypto'
import { open, rename, rm, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { SnapshotHeader, SnapshotWriter } from '../store/index.js'
import { footerLine, headerLine } from './snapshot-format.js'
import { syncFolder } from './sync-folder.js'

/** Characters gathered before they are written. */
const bufferedMax = 2 ** 18

export interface SnapshotPaths {
  readonly unfinished: string
  readonly finished: string
}

/** Calls `done` when the unfinished file is gone, by commit, abort or failure. */
export const writeSnapshot = async (
  header: SnapshotHeader,
  { unfinished, finished }: SnapshotPaths,
  done: () => void,
): Promise<SnapshotWriter> => {
  const handle: FileHandle = await open(unfinished, 'wx', 0o600)
  const hash = createHash('sha256')
  let buffered = headerLine(header)
  let lines = 0
  let ended = false

  const flush = async (): Promise<void> => {
    const bytes = Buffer.from(buffered)
    buffered = ''
    hash.update(bytes)
    await handle.appendFile(bytes)
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

  const line = (text: string): Promise<void> =>
    guarded(async () => {
      if (text.includes('\n')) throw new Error('A line of a snapshot cannot hold a line break.')
      buffered += text
      buffered += '\n'
      lines += 1
      if (buffered.length > bufferedMax) await flush()
    })

  const commit = (): Promise<void> =>
    guarded(async () => {
      await flush()
      await handle.appendFile(footerLine({ lines, sha256: hash.digest('hex') }))
      await handle.sync()
      await handle.close()
      await rename(unfinished, finished)
      ended = true
      await syncFolder(dirname(finished))
      done()
    })

  return { line, commit, abort: async () => (ended ? undefined : discard()) }
}
