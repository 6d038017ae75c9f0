/**
 * A backup: everything of a queue server that cannot be computed again, as it was at one moment. A backup is itself a data folder, so restoring means
 * starting a server with a copy of it. It is taken beside a running server, or without one.
 *
 * The order matters. Signed checkpoints are copied before the log, so that no checkpoint is about events that the copy lacks. Segments of the archive
 * and keys of erasable tasks are copied after it, so that none is missing that the copy of the log needs.
 */
import { randomBytes } from 'node:crypto'
import { mkdir, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { archiveFolderOf } from '../segments/folder-of.js'
import { checkpointFolderOf, readCheckpoints, signedQueues, type Verified, verifyAt } from '../chain/index.js'
import { logFileName } from '../config/serve-options.js'
import { queueOf, streamOf, streamPrefix } from '../engine/index.js'
import { makeDurableFolder } from '../disk/make-folder.js'
import { syncPath } from '../disk/sync-path.js'
import { openOwnLog } from '../open-log.js'
import { type LogAddress, StoreError } from '../store/index.js'
import { resolvedFile } from '../store/resolved-file.js'
import { keysFileOf } from '../task-keys/keys-file-of.js'
import { copyDatabase, copyDatabaseInSteps, copyFolder, isInside, isOfLog, syncAll } from './copy-data.js'

/** Whether a server can compute this again from the log. The trees of checkpoints are copied: without one, nothing says that lost checkpoints were signed. */
const isCache = (path: string): boolean => path === 'snapshots' || path.startsWith('views.db')

export interface BackupOptions {
  readonly dataDir: string
  readonly log: LogAddress
  /** A folder that does not exist yet. */
  readonly to: string
  readonly progress?: (what: string) => void
  /** Ends the backup, with the signal's reason. The log is copied in steps; another database whose copying has begun is copied first. */
  readonly signal?: AbortSignal
}

export interface BackedUpQueue {
  readonly queue: string
  readonly verified: Verified
  /** Why it was not compared with its checkpoints, if some were signed. */
  readonly uncompared?: string
}

export interface BackedUp {
  readonly folder: string
  /** When the copy of the log began, ISO 8601. Everything that was acknowledged before is in it. */
  readonly at: string
  /** The queues of the copied log, each verified in the copy. Empty for EventStoreDB, where the log stays. */
  readonly queues: ReadonlyArray<BackedUpQueue>
}

/**
 * Until the backup is complete and on disk, the folder has another name, `TO.unfinished-…`. A failure or `signal` removes it; a crash leaves it.
 *
 * @throws Error if the folder exists already, something cannot be read, or the disk is full.
 */
export const backUp = async ({ dataDir, log, to, progress = () => undefined, signal }: BackupOptions): Promise<BackedUp> => {
  const target = resolve(to)
  if (await exists(target)) throw new Error(`${to} is there already: name a folder that is not`)
  if (!(await exists(dataDir))) throw new Error(`there is no data folder ${dataDir}: --data names the server's`)
  const source = await realpath(dataDir)
  // Without links, because the folder would be copied into itself.
  if (isInside(source, await realPlace(target))) throw new Error(`${to} is inside the data folder: a backup belongs elsewhere, best on another disk`)
  makeDurableFolder(dirname(target))
  const unfinished = `${target}.unfinished-${randomBytes(4).toString('hex')}`
  // The backup contains hashes of tokens, and keys.
  await mkdir(unfinished, { mode: 0o700 })
  const check = (): void => signal?.throwIfAborted()
  const step = (what: string): void => {
    check()
    progress(what)
  }
  try {
    step('copying checkpoints, tokens and memories')
    const logFile = log.kind === 'sqlite' ? resolvedFile(log.file) : undefined
    await copyFolder(dataDir, unfinished, (path) => {
      check()
      // A file that has the name which the log gets in the copy is of a log that the server does not use.
      return isCache(path) || (logFile !== undefined && (isOfLog(path, relative(source, logFile)) || isOfLog(path, logFileName)))
    })
    const at = new Date().toISOString()
    if (logFile !== undefined) await copyLog(log, logFile, join(unfinished, logFileName), step, check)
    const queues = logFile === undefined ? [] : await verifyCopy(unfinished, { dataDir, log: logFile }, step)
    await writeFile(join(unfinished, 'backup.json'), `${JSON.stringify(manifestOf(at, queues), undefined, 2)}\n`)
    step('waiting for the disk')
    await syncAll(unfinished)
    check()
    await rename(unfinished, target)
    await syncPath(dirname(target))
    return { folder: target, at, queues }
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true })
    throw error
  }
}

/** Copies the log and the files beside it, under the names that they have in a data folder. `check` throws when the backup is to end. */
const copyLog = async (log: LogAddress, from: string, to: string, progress: (what: string) => void, check: () => void): Promise<void> => {
  if (!(await exists(from))) throw new Error(`there is no log ${from}: --store names it, if it is not in the data folder`)
  progress('copying the log')
  await copyDatabaseInSteps(from, to, (part) => progress(`copying the log: ${Math.floor(part * 100)} %`))
  const [archive, keys] = [archiveFolderOf(log), keysFileOf(log)]
  if (archive !== undefined && (await exists(archive))) {
    await copyFolder(archive, `${to}.archive`, () => {
      check()
      return false
    })
  }
  if (keys !== undefined && (await exists(keys))) await copyDatabase(keys, `${to}.keys`)
}

const verifyCopy = async (folder: string, source: { readonly dataDir: string; readonly log: string }, progress: (what: string) => void): Promise<ReadonlyArray<BackedUpQueue>> => {
  const address: LogAddress = { kind: 'sqlite', file: join(folder, logFileName) }
  const log = await openOwnLog(address)
  const streams = await log.streams(streamPrefix).finally(() => log.close())
  const queues = new Set([...streams.map(queueOf), ...(await signedQueues(checkpointFolderOf(folder)))])
  const verified: Array<BackedUpQueue> = []
  for (const queue of queues) {
    const stream = streamOf(queue)
    // A copy is wanted all the more if the checkpoints are lost.
    const checkpoints = await readCheckpoints(checkpointFolderOf(folder), queue).catch((error: unknown) => {
      if (error instanceof StoreError && error.code === 'damaged') return error.message
      throw error
    })
    const isLost = typeof checkpoints === 'string'
    const found = await verifyAt(address, stream, { checkpoints: isLost ? undefined : checkpoints, progress: (events, of) => progress(`verifying the copy of ${queue}: ${events} of ${of} events`) })
    // The folder will have another name. What the copy lacks, its source lacks.
    const broken = found.broken === null ? null : { ...found.broken, reason: found.broken.reason.replaceAll(address.file, () => source.log) }
    verified.push({ queue, verified: { ...found, broken }, ...(isLost ? { uncompared: checkpoints.replaceAll(folder, () => source.dataDir) } : {}) })
  }
  return verified
}

const manifestOf = (at: string, queues: ReadonlyArray<BackedUpQueue>): object => ({
  daybook: 'backup', version: 1, at,
  queues: queues.map(({ queue, verified: { ok, events, head }, uncompared }) => ({ queue, ok: ok && uncompared === undefined, events, head })),
})

const exists = (path: string): Promise<boolean> => stat(path).then(() => true, () => false)

/** The real path of a file that need not exist. */
const realPlace = (path: string): Promise<string> =>
  realpath(path).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT' || dirname(path) === path) throw error
    return join(await realPlace(dirname(path)), basename(path))
  })
