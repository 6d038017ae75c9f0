/** A log and its writer, in memory or in a file. */
import { Log } from './log.js'
import { openJournal, type Journal } from './journal.js'
import { Writer } from './writer.js'

export interface Store {
  readonly log: Log
  readonly writer: Writer
  /** Called when a real node would stop for good. */
  onFatal: () => void
  /** Waits for what is being written. */
  readonly close: () => Promise<void>
}

export interface StoreOptions {
  /** Folder of the journal. Default: in memory. */
  readonly dir?: string
  readonly recentIdsBytesMax?: number
}

export const openStore = async ({ dir, recentIdsBytesMax }: StoreOptions = {}): Promise<Store> => {
  const log = new Log(recentIdsBytesMax)
  const journal: Journal | undefined = dir === undefined ? undefined : await openJournal(dir, log.restore)
  log.forget()
  const store: Store = {
    log,
    writer: new Writer(log, {
      ...(journal === undefined ? {} : { keep: journal.keep }),
      onFatal: () => store.onFatal(),
    }),
    onFatal: () => {},
    close: async () => journal?.close(),
  }
  return store
}
