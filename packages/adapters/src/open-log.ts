/** Opens a log for reading, in whichever store it is, with what was moved out of it. */
import { archiveFolderOf } from './archive/folder-of.js'
import { joinedLog } from './archive/joined-log.js'
import type { LogAddress, OpenedLog } from './store/index.js'

/** @throws StoreError if it cannot be opened. */
export const openLog = async (address: LogAddress): Promise<OpenedLog> => {
  const archive = archiveFolderOf(address)
  const log = await openOwnLog(address)
  return archive === undefined ? log : joinedLog(log, archive)
}

/** Only what is in the store itself. */
export const openOwnLog = async (address: LogAddress): Promise<OpenedLog> => {
  switch (address.kind) {
    case 'sqlite': {
      const { openSqliteLog } = await import('./sqlite/index.js')
      return openSqliteLog(address.file)
    }
    case 'eventstoredb': {
      const { openEventStoreDb } = await import('./eventstoredb/index.js')
      return openEventStoreDb({ url: address.url })
    }
  }
}
