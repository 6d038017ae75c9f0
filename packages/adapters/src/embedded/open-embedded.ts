/**
 * Queues inside a program. The client is that of `@daybook/client`, linked to an engine in the same process instead of HTTP. So a program can begin
 * like this and use a server later; only the line that makes the client changes.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { DaybookClient } from '@daybook/client'
import { clientOver, configure, DaybookError } from '@daybook/client/internal'
import type { SettingsPatch } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import { archiveBeside, joinedStore } from '../segments/index.js'
import { lastingGrant } from '../auth/index.js'
import { checkPatch, keysFileName, logFileName } from '../config/index.js'
import { createDaybook, type Daybook, type DaybookOptions, type EngineOptions, warnOfMissingKeys } from '../engine/index.js'
import { openSnapshotFolder } from '../files/index.js'
import { makeDurableFolder } from '../disk/make-folder.js'
import { serviceOf } from '../http/service.js'
import { openMemoryStore } from '../memory/index.js'
import { openSqliteStore } from '../sqlite/index.js'
import { KeyFile, keysBeside, moveKeys } from '../task-keys/index.js'
import { inProcess } from './in-process.js'
import { watchQueueOf } from './watch-queue.js'

export interface EmbeddedOptions {
  /**
   * The folder of the log and its snapshots, created if necessary. `daybook serve --data` with this folder serves the same queues, once no program
   * has them open. Default: the queues are in memory and are lost at the end; they cannot be erasable then.
   */
  readonly dataDir?: string | undefined
  /** Whether other processes have the same folder open, each with `shared`. Slower. Default false. */
  readonly shared?: boolean | undefined
  /** The queue that the client uses; see `DaybookClient.in` for others. Default `default`. */
  readonly queue?: string | undefined
  /** The actor of this program's commands in the log. Default `embedded`. */
  readonly name?: string | undefined
  /** Settings of new queues that differ from the defaults. */
  readonly settings?: SettingsPatch | undefined
  /** Called with messages that may need people: a snapshot that is not used, a clock that is wrong, a file of keys that is gone. Default: not called. */
  readonly warn?: ((message: string) => void) | undefined
  /** All other options of an engine, such as another clock. */
  readonly engine?: Omit<EngineOptions, 'defaults' | 'keys' | 'warn'> | undefined
}

/** A client whose queues are in this process. `close` closes the queues as well. */
export interface Embedded extends DaybookClient {
  readonly daybook: Daybook
}

/**
 * Opens queues in this process. Resolves when they are replayed.
 *
 * *Gotchas*: reports need the read models of a server, and are refused as `disabled`. Claims come without memories of earlier tasks.
 *
 * @throws Error if the folder cannot be used, or is open elsewhere.
 * @throws DaybookError `invalid` for settings that do not exist or have wrong values.
 * @example
 * const client = await openEmbedded({ dataDir: './daybook-data' })
 * await client.enqueue({ type: 'mail', payload: { to: 'ada@example.org' } })
 * await client.close()
 */
export const openEmbedded = async (options: EmbeddedOptions = {}): Promise<Embedded> => {
  const { dataDir, queue, name = 'embedded', settings = {}, warn = () => undefined, engine } = options
  const defaults = checkPatch(settings, 'settings')
  if (E.isLeft(defaults)) throw new DaybookError('invalid', defaults.left.join('\n'), { unsent: true })
  const parts = dataDir === undefined ? { store: openMemoryStore(), missingKeys: undefined, closeRest: () => undefined } : await openFolder(dataDir, options.shared ?? false, warn)
  const { missingKeys, closeRest, ...stores } = parts
  const daybook = createDaybook({ ...engine, ...stores, warn, defaults: defaults.right })
  const closeAll = (): Promise<void> => daybook.close().finally(closeRest)
  try {
    await daybook.ready
    if (missingKeys !== undefined) await warnOfMissingKeys(daybook, missingKeys, warn)
    const service = serviceOf({ daybook, tokens: 'off' })
    const closing = new AbortController()
    const transport = inProcess(service, lastingGrant(name, { roles: ['admin'] }), closeAll)
    const stopWaiting = (): void => {
      closing.abort()
      transport.stopWaiting()
    }
    const client = clientOver({ transport: { ...transport, stopWaiting }, watch: watchQueueOf(daybook, closing.signal) }, configure(queue === undefined ? {} : { queue }))
    return Object.assign(client, { daybook })
  } catch (error) {
    await closeAll()
    throw error
  }
}

type Stores = Pick<DaybookOptions, 'store' | 'snapshots' | 'keys'> & {
  /** The file of keys, if it does not exist yet. */
  readonly missingKeys: string | undefined
  readonly closeRest: () => void
}

const openFolder = async (dataDir: string, shared: boolean, warn: (message: string) => void): Promise<Stores> => {
  makeDurableFolder(dataDir)
  const file = join(dataDir, logFileName)
  // `daybook archive` may have moved old events out of the file.
  const store = joinedStore(await openSqliteStore({ file, sharing: shared ? 'shared' : 'exclusive' }), archiveBeside(file))
  try {
    const keysFile = keysBeside(file)
    // Earlier versions kept the keys where a server does not look for them.
    moveKeys(join(dataDir, keysFileName), keysFile)
    const missingKeys = existsSync(keysFile) ? undefined : keysFile
    const keys = new KeyFile(keysFile)
    const snapshots = await openSnapshotFolder(join(dataDir, 'snapshots'), { rows: { warn } })
    const closeRest = (): void => {
      snapshots.close()
      keys.close()
    }
    return { store, keys, snapshots, missingKeys, closeRest }
  } catch (error) {
    await store.close()
    throw error
  }
}
