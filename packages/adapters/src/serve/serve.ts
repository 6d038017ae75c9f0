/**
 * Assembles a server: store, snapshots, queues, tokens, HTTP, queue files. The parts are closed in reverse order. If one cannot be opened, those
 * before it are closed.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type DestinationStream, pino } from 'pino'
import { defined } from '../defined.js'
import { archiveFolderOf, joinedStore } from '../segments/index.js'
import { logAlerts } from '../alerts/index.js'
import { openTokens, refusalOfAuthOff } from '../auth/index.js'
import { checkpointFolderOf, type Checkpoints, signingKeyFileOf, startCheckpoints, verificationsOn } from '../chain/index.js'
import { type CheckpointStore, memoryCheckpoints } from '@daybook/projections'
import { checkpointMsDefault, keysFileName, memoryDefault, type ServeOptions } from '../config/index.js'
import { createDaybook, type Daybook, type Loading, warnOfMissingKeys } from '../engine/index.js'
import { openSnapshotFolder, type QueueFolders, startQueueFiles } from '../files/index.js'
import { fileCheckpoints } from '../files/checkpoints.js'
import { makeDurableFolder } from '../disk/make-folder.js'
import { httpLimitsDefault, Meter, type PastAnswers, pastAnswersOnThread, readConsole, RequestLog, startHttpServer } from '../http/index.js'
import { startLauncher } from '../launcher/index.js'
import { type MemoryService, openHttpBank, openSqliteBank, startMemory } from '../memory-bank/index.js'
import { openMemoryStore } from '../memory/index.js'
import { type ReadModels, startReadModels } from '../read-models/index.js'
import { viewsFileName } from '../read-models/views-file-name.js'
import { openSqliteStore } from '../sqlite/index.js'
import { startTelemetry } from '../telemetry/index.js'
import { type EventStore, type LogAddress, observedStore } from '../store/index.js'
import { KeyFile, keysFileOf } from '../task-keys/index.js'
import { unlessAborted } from '../unless-aborted.js'
import { startWebhooks, type Webhooks } from '../webhooks/service.js'
import { lockDataFolder } from './data-lock.js'

export interface RunningServer {
  readonly url: string
  /** Made at the first start. It must be shown, because only its hash is stored. */
  readonly adminToken: string | undefined
  readonly daybook: Daybook
  /** Writes a warning to the server's log, as a JSON line. */
  readonly warn: (message: string) => void
  /** Accepts no new work, answers what is in flight, takes a snapshot, releases everything. */
  readonly close: () => Promise<void>
}

/** Callbacks for whoever starts it. */
export interface ServeReport {
  readonly warn?: (message: string) => void
  /** How far the log has been read. */
  readonly progress?: (loading: Loading) => void
  /** Internal errors, alerts and, if they are wanted, requests: one JSON line each (docs/reference/log.md). Default: stderr. */
  readonly log?: DestinationStream
  /** Ends a start that is still reading the log: {@link serve} then rejects. */
  readonly signal?: AbortSignal
}

/** How long a start waits for its queue files, in milliseconds. */
const filesWaitMs = 2_000
/** How long requests in flight may take at the end, in milliseconds: SIGTERM has to end a server within 10 s. */
const graceMs = 5_000
/** How long launched programs may take to finish at the end, in milliseconds. */
const launcherGraceMs = 2_000

/**
 * Starts a server. Resolves when all queues are replayed; until then `/readyz` reports the progress.
 *
 * @throws StoreError, or Error with what to do, if a part cannot be opened; nothing is left running.
 */
export const serve = async (
  options: ServeOptions,
  { warn = () => undefined, progress = () => undefined, log = process.stderr, signal }: ServeReport = {},
): Promise<RunningServer> => {
  if (options.auth === 'off') {
    const refusal = refusalOfAuthOff(options.host)
    if (refusal !== undefined) throw new Error(refusal)
  }
  const opened: Array<() => Promise<void>> = []
  /** Releases all parts, also if one of them fails. @throws the first error. */
  const close = async (): Promise<void> => {
    const errors: Array<unknown> = []
    for (const release of opened.splice(0).reverse()) await release().catch((error: unknown) => errors.push(error))
    if (errors.length > 0) throw errors[0]
  }
  /** This part is closed before those that were opened earlier. */
  const own = <A extends { readonly close: () => Promise<void> } | undefined>(part: A): A => {
    if (part !== undefined) opened.push(() => part.close())
    return part
  }
  try {
    const persistent = options.store.kind !== 'memory'
    if (persistent) {
      makeDataFolder(options.dataDir)
      const unlock = lockDataFolder(options.dataDir)
      // Released last of all.
      opened.push(async () => unlock())
    }
    const logger = pino({ level: 'warn' }, log)
    // Closed after all other parts, so that it can report their end.
    const telemetry = own(await startTelemetry(process.env, (text) => logger.warn(text)))
    const meter = new Meter()
    // A daybook closes its store by itself. This is for a start that fails before there is one: closing it again does nothing.
    const store = observedStore(own(await openStore(options)), telemetry === undefined ? [meter.append] : [meter.append, telemetry.append])
    const hasKeys = !persistent || existsSync(keysFileIn(options))
    const keys = new KeyFile(keysFileIn(options))
    opened.push(async () => keys.close())
    const snapshots = persistent ? await openSnapshotFolder(snapshotFolderOf(options), { rows: { warn }, ...defined({ ladder: options.pastSnapshots }) }) : undefined
    if (snapshots !== undefined) opened.push(async () => snapshots.close())
    const daybook = own(createDaybook({
      store,
      keys,
      warn,
      progress,
      alerts: true,
      opened: logAlerts((fields, text) => logger.warn(fields, text)),
      ...defined({ defaults: options.defaults, pastUnreadable: options.pastUnreadable, clockJumpMs: options.clockJumpMs, snapshots }),
    }))
    const memory = own(startMemoryOf(options, daybook, warn))
    const tokens =
      options.auth === 'off'
        ? undefined
        : openTokens({ dir: persistent ? options.dataDir : 'memory', adminToken: options.token, store, now: daybook.now, warn: (text) => logger.warn(text) })
    own(tokens?.tokens)
    const past = own(pastOf(options))
    const verifications = own(options.store.kind === 'memory' ? undefined : verificationsOn(options.store, checkpointFolderOf(options.dataDir)))
    const readModelsLog = readModelsLogOf(options)
    let files: QueueFolders | undefined
    let webhooks: Webhooks | undefined
    let readModels: ReadModels | undefined
    let signing: Checkpoints | undefined
    const http = await startHttpServer({
      daybook,
      tokens: tokens?.tokens ?? 'off',
      host: options.host,
      port: options.port,
      queueFiles: () => files?.status() ?? [],
      webhooks: () => webhooks?.status() ?? [],
      readModels: () => readModels,
      keepsReadModels: readModelsLog !== undefined,
      checkpoints: () => signing,
      ...(options.console === 'off' ? {} : { console: readConsole() }),
      ...defined({ tls: options.tls, memory, past, verifications }),
      logger,
      requestLog: options.logRequests === undefined ? undefined : new RequestLog(logger.child({}, { level: 'info' }), options.logRequests),
      meter,
      telemetry,
    })
    // They need no other part and have their own limits of time, so they end while the last requests are answered.
    const beside: Array<() => Promise<void>> = []
    opened.push(async () => void (await Promise.all([http.close(graceMs), ...beside.map((release) => release())])))
    await unlessAborted(Promise.all([daybook.ready, tokens?.tokens.ready]), signal)
    if (!hasKeys) await warnOfMissingKeys(daybook, keysFileIn(options), (text) => logger.warn(text))
    if (readModelsLog !== undefined) {
      const started = startReadModels({ daybook, file: join(options.dataDir, viewsFileName), log: readModelsLog, say: (text) => logger.warn(text) })
      readModels = started
      beside.push(() => started.close())
    }
    const { checkpoints = {} } = options
    if (checkpoints !== 'off' && options.store.kind !== 'memory') {
      const { keyFile = signingKeyFileOf(options.dataDir), witness, everyMs = checkpointMsDefault } = checkpoints
      const started = startCheckpoints({ log: options.store, dataDir: options.dataDir, keyFile, witness, everyMs, warn: (text) => logger.warn(text) })
      signing = started
      beside.push(() => started.close())
    }
    if (persistent || options.webhooks !== undefined) {
      webhooks = own(await startWebhooksOf(options, daybook, (text) => logger.warn(text)))
    }
    if (options.queueFilesDir !== undefined) {
      files = own(startQueueFiles({ daybook, dir: options.queueFilesDir, warn }))
      // Usually the files exist when the server becomes ready. It does not wait for a slow disk.
      await Promise.race([files.tried, delay(filesWaitMs, undefined, { ref: false })])
    }
    if (options.launcher !== undefined) {
      const launcher = await startLauncher(daybook, http.url, options.launcher, warn, memory)
      // Closed first, because its programs may still report.
      opened.push(() => launcher.close(launcherGraceMs))
    }
    tokens?.keep()
    return { url: http.url, adminToken: tokens?.made, daybook, warn: (text) => logger.warn(text), close }
  } catch (error) {
    // Why it cannot start says more than what came of closing its parts.
    await close().catch(() => undefined)
    throw error
  }
}

/** The file with the keys of erasable tasks. If the log is in memory, so are the keys. */
const keysFileIn = ({ store, dataDir }: ServeOptions): string => (store.kind === 'memory' ? ':memory:' : (keysFileOf(store) ?? join(dataDir, keysFileName)))

const snapshotFolderOf = ({ dataDir }: ServeOptions): string => join(dataDir, 'snapshots')

/** `undefined` for a log that no other thread can read. */
const pastOf = (options: ServeOptions): PastAnswers | undefined => {
  const { store } = options
  if (store.kind === 'memory') return undefined
  return pastAnswersOnThread({ log: store, keys: keysFileOf(store), snapshots: snapshotFolderOf(options), views: join(options.dataDir, viewsFileName), limits: httpLimitsDefault })
}

const makeDataFolder = (dir: string): void => {
  try {
    makeDurableFolder(dir)
  } catch (error) {
    throw new Error(`the data folder ${dir} cannot be made: ${(error as Error).message}. Give another --data`, { cause: error })
  }
}

/** The file of the embedded memory. */
const memoryFileName = 'memory.db'

/** The log from which read models are fed; `undefined` if there are none. Another thread cannot read a log in memory. */
const readModelsLogOf = ({ store, readModels }: ServeOptions): LogAddress | undefined => (readModels === 'off' || store.kind === 'memory' ? undefined : store)

const startMemoryOf = ({ memory = memoryDefault, store, dataDir }: ServeOptions, daybook: Daybook, warn: (message: string) => void): MemoryService | undefined => {
  if (memory.kind === 'off') return undefined
  const persistent = store.kind !== 'memory'
  const bank = memory.kind === 'http' ? openHttpBank(memory) : openSqliteBank(persistent ? join(dataDir, memoryFileName) : ':memory:')
  const checkpoints = (queue: string): CheckpointStore => (persistent ? fileCheckpoints(join(dataDir, 'memory', queue)) : memoryCheckpoints())
  return startMemory({ daybook, bank, checkpoints, warn, recallMs: memory.recallMs, limit: memory.limit })
}

/** Without any webhook it still forgets the receivers of earlier starts. */
const startWebhooksOf = ({ store, dataDir, webhooks = [] }: ServeOptions, daybook: Daybook, warn: (message: string) => void): Promise<Webhooks> => {
  const folder = (...names: ReadonlyArray<string>): CheckpointStore => (store.kind === 'memory' ? memoryCheckpoints() : fileCheckpoints(join(dataDir, 'webhooks', ...names)))
  return startWebhooks({ daybook, webhooks, checkpoints: (queue) => folder('queues', queue), known: folder(), warn })
}

/** The log together with its archive. */
const openStore = async (options: ServeOptions): Promise<EventStore> => {
  const store = await openOwnStore(options)
  const archive = options.store.kind === 'memory' ? undefined : archiveFolderOf(options.store)
  return archive === undefined ? store : joinedStore(store, archive)
}

const openOwnStore = async ({ store }: ServeOptions): Promise<EventStore> => {
  switch (store.kind) {
    case 'memory':
      return openMemoryStore()
    case 'sqlite':
      return openSqliteStore({ file: store.file, sharing: store.sharing })
    case 'eventstoredb': {
      // Loaded only here: its client takes longer to load than all other modules.
      const { openEventStoreDb } = await import('../eventstoredb/index.js')
      return openEventStoreDb({ url: store.url })
    }
  }
}
