/** Opens a log for reading, in whichever store it is. */
import type { LogAddress, OpenedLog } from './store/index.js'

/** @throws StoreError if it cannot be opened. */
export const openLog = async (address: LogAddress): Promise<OpenedLog> => {
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
