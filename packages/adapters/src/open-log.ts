/** Opens a log for reading, in whichever store it is, together with its archive. */
import { archiveFolderOf } from './segments/folder-of.js'
import { joinedLog } from './segments/joined-log.js'
import type { LogAddress, OpenedLog } from './store/index.js'

/**
 * `ahead`: for readers of most of the log; pages are fetched while the previous one is used.
 *
 * @throws StoreError if it cannot be opened.
 */
export const openLog = async (address: LogAddress, ahead = false): Promise<OpenedLog> => {
  const archive = archiveFolderOf(address)
  const log = await openOwnLog(address, ahead)
  return archive === undefined ? log : joinedLog(log, archive)
}

/** Only the events in the store itself. */
export const openOwnLog = async (address: LogAddress, ahead = false): Promise<OpenedLog> => {
  switch (address.kind) {
    case 'sqlite': {
      const { openSqliteLog } = await import('./sqlite/index.js')
      return openSqliteLog(address.file, ahead)
    }
    case 'eventstoredb': {
      const { openEventStoreDb } = await import('./eventstoredb/index.js')
      return openEventStoreDb({ url: address.url })
    }
  }
}
