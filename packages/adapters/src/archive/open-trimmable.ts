/** Opens a log to move events out of it. Nobody else may do so meanwhile. */
import { join } from 'node:path'
import { makeFolder } from '../files/make-folder.js'
import { openOwnLog } from '../open-log.js'
import { type LogAddress, StoreError } from '../store/index.js'
import type { TrimmableStore } from './archive-stream.js'

export interface Compacted {
  /** Bytes of the file. */
  readonly before: number
  readonly after: number
  /** Set if it was left as it was, because the disk has no room for a copy: bytes that are needed. */
  readonly needs?: number
}

export interface OpenedTrimmable extends TrimmableStore {
  /** Gives the space of what was removed back to the disk, if there is much of it; `undefined` if there is not, or the store does it by itself. */
  readonly compact: () => Promise<Compacted | undefined>
  readonly close: () => Promise<void>
}

/** Events that are removed in one step. */
const removeDefault = 10_000
/** The file is made smaller if this part of it is not used. */
const unusedMin = 0.1

/** @throws StoreError `locked` while a server has an SQLite file open, or somebody else moves events into the archive. */
export const openTrimmable = async (address: LogAddress, archive: string, removeMax = removeDefault): Promise<OpenedTrimmable> => {
  const { openTrimmer, takeServerLock } = await import('../sqlite/index.js')
  switch (address.kind) {
    case 'sqlite': {
      const { file } = address
      const trimmer = await openTrimmer(file).catch((error: unknown) => {
        throw error instanceof StoreError && error.code === 'locked' ? new StoreError('locked', `A Daybook server has ${file} open, or events are being moved already: stop the server, move the events, start it again.`, { cause: error }) : error
      })
      const log = await openOwnLog(address)
      return {
        log,
        remove: async (stream, before) => trimmer.remove(stream, before, removeMax),
        compact: async () => (trimmer.unused() < unusedMin * trimmer.bytes() ? undefined : trimmer.compact()),
        close: async () => {
          await log.close()
          trimmer.close()
        },
      }
    }
    case 'eventstoredb': {
      makeFolder(archive)
      const lock = takeServerLock(join(archive, 'archive'), 'exclusive', `Events are being moved into ${archive} already: wait until that is done.`)
      const { openEventStoreDb } = await import('../eventstoredb/index.js')
      const log = openEventStoreDb({ url: address.url })
      return {
        log,
        remove: (stream, before) => log.truncate(stream, before),
        compact: async () => undefined,
        close: async () => {
          await log.close()
          lock.release()
        },
      }
    }
  }
}
