import { access, constants, readlink, realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { createFile, removeUnfinished } from './create-file.js'
import { storeError } from './errors.js'
import { inspectFile } from './file-header.js'
import { openConnection } from './open-log.js'
import { takeServerLock, type Sharing } from './server-lock.js'
import { sqliteStore } from './sqlite-store.js'
import { startWriter } from './writer.js'
import { type EventStore, StoreError } from '../store/index.js'

export interface SqliteStoreOptions {
  /** Created if it does not exist. Its folder must exist, on a local disk. The process does not exit before `close`. */
  readonly file: string
  /** `exclusive` (default): no other Daybook process may have the file open. `shared`: several processes may, correctly but slower. */
  readonly sharing?: Sharing
  /** How long an append waits for another process's transaction, in milliseconds. Default 5,000. */
  readonly busyTimeoutMs?: number
}

/** Files that this process has open, which {@link inspectFile} must not touch. */
const openHere = new Map<string, number>()

const nameOpen = (file: string): (() => void) => {
  openHere.set(file, (openHere.get(file) ?? 0) + 1)
  return () => {
    const left = (openHere.get(file) ?? 1) - 1
    if (left === 0) openHere.delete(file)
    else openHere.set(file, left)
  }
}

/** The last opening of each file in this process that is under way. */
const openings = new Map<string, Promise<void>>()

/** Opens a file after all earlier openings of it: {@link inspectFile} must not run while another opening already has it open. */
const inTurn = <A>(file: string, open: () => Promise<A>): Promise<A> => {
  const opened = (openings.get(file) ?? Promise.resolve()).then(open)
  const ended = opened.then(() => undefined, () => undefined)
  openings.set(file, ended)
  void ended.then(() => {
    if (openings.get(file) === ended) openings.delete(file)
  })
  return opened
}

/** One name for one file, whatever links lead to it. It need not exist, unless it is a link. */
const resolveFile = async (file: string): Promise<string> =>
  realpath(file).catch(async () => {
    const target = await readlink(file).catch(() => undefined)
    if (target !== undefined) throw new StoreError('unavailable', `Cannot use the store ${file}. It is a link to ${target}, which is not there: mount its disk, or remove the link.`)
    return join(await realpath(dirname(file)), basename(file))
  })

/** Opens or creates a store in one SQLite file. Rejects with a {@link StoreError}, leaving the file as it was. */
export const openSqliteStore = async (options: SqliteStoreOptions): Promise<EventStore> => {
  try {
    const file = await resolveFile(options.file)
    return await inTurn(file, () => openResolved(file, options))
  } catch (error) {
    throw storeError(error, options.file)
  }
}

const openResolved = async (file: string, options: SqliteStoreOptions): Promise<EventStore> => {
  const releases: Array<() => void> = []
  const release = (): void => releases.splice(0).reverse().forEach((undo) => undo())
  try {
    // 1. Inspect the file first: one that is not ours stays as it is, and gets no lock beside it.
    const found = openHere.has(file) ? 'ours' : await inspectFile(file)
    await access(dirname(file), constants.W_OK)
    if (found === 'ours') await access(file, constants.W_OK)

    // 2. From now on no other process changes the file, unless sharing was requested.
    const { release: unlock } = takeServerLock(file, options.sharing ?? 'exclusive')
    releases.push(unlock, nameOpen(file))
    if (found === 'missing') await createFile(file)
    // What is left takes a little room, and does no harm.
    await removeUnfinished(file).catch(() => undefined)

    // 3. The reading connection comes first, because it finds damage without writing.
    const db = openConnection(file)
    releases.push(() => db.close())
    const writer = await startWriter({ file, busyTimeoutMs: options.busyTimeoutMs ?? 5000 })
    return sqliteStore({ file, db, writer, isShared: options.sharing === 'shared', release })
  } catch (error) {
    release()
    throw error
  }
}
