/** Opens a log in order to archive events. No other process may do so meanwhile. */
import { join } from 'node:path'
import { makeDurableFolder } from '../disk/make-folder.js'
import { openOwnLog } from '../open-log.js'
import { type LogAddress, StoreError } from '../store/index.js'
import type { TrimmableStore } from './archive-stream.js'

export interface Compacted {
  /** Size of the file in bytes. */
  readonly before: number
  readonly after: number
  /** Set if the file was not compacted because the disk has no room for a copy: the number of bytes needed. */
  readonly needs?: number
}

export interface OpenedTrimmable extends TrimmableStore {
  /** Gives the space of removed events back to the disk. `undefined` if there is little of it, or if the store does this by itself. */
  readonly compact: () => Promise<Compacted | undefined>
  readonly close: () => Promise<void>
}

/** The largest number of events that are removed in one step. */
const removeDefault = 10_000
/** The file is compacted if at least this part of it is unused. */
const unusedMin = 0.1

/** @throws StoreError `locked` while a server has an SQLite file open, or while another process archives events. */
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
      makeDurableFolder(archive)
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
