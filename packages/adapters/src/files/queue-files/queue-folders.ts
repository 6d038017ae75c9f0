/** Queue files of all queues: those of `default` in the folder itself, those of other queues in sub-folders. */
import { join } from 'node:path'
import type { Daybook, QueueEngine } from '../../engine/index.js'
import { type QueueFiles, type QueueFilesStatus, startQueueFilesOf } from './queue-files.js'

export interface QueueFoldersOptions {
  readonly daybook: Daybook
  /** Created if it does not exist. */
  readonly dir: string
  readonly warn?: (message: string) => void
}

export interface QueueFolders {
  /** Resolves after the first attempt to write the files of all queues, successful or not. */
  readonly tried: Promise<void>
  /** The status of each queue's files. */
  readonly status: () => ReadonlyArray<QueueFilesStatus>
  /** The files of one queue; `undefined` before its first event is noticed. */
  readonly of: (queue: string) => QueueFiles | undefined
  /** Writes the state as it is now, for a short time at most, then stops. */
  readonly close: () => Promise<void>
}

/** Interval of looking for new queues, in milliseconds. */
const lookMs = 50

/** The folder of a queue. It never has the name of a file, even if the queue has. */
const folderOf = (dir: string, queue: string): string => {
  if (queue === 'default') return dir
  return join(dir, /\.(json|md|tmp|queue)$/i.test(queue) ? `${queue}.queue` : queue)
}

/**
 * Starts writing the files. Never fails: problems are reported, shown in the status, and retried.
 *
 * *Gotchas*: the folder belongs to Daybook. Changes to these files by others are overwritten; `daybook
 * import` imports tasks. On case-insensitive file systems, queues that differ only in case share a folder.
 */
export const startQueueFiles = ({ daybook, dir, warn = () => undefined }: QueueFoldersOptions): QueueFolders => {
  const started = new Map<string, QueueFiles>()
  const start = (engine: QueueEngine): void => {
    const { name } = engine
    if (!started.has(name)) started.set(name, startQueueFilesOf({ engine, log: daybook.log, dir: folderOf(dir, name), warn }))
  }
  const look = (): void => daybook.queues().forEach(start)

  const begin = async (): Promise<void> => {
    await daybook.ready
    look()
    // The default queue has files from the start, so that tools find them before its first task.
    await daybook.open('default').then(start, (error: unknown) => warn(`there are no files of the default queue until it can be opened: ${String(error)}`))
    await Promise.all([...started.values()].map(({ tried }) => tried))
  }
  // The error of a daybook that cannot be read is reported to whoever opened it.
  const tried = begin().catch(() => undefined)
  const timer = setInterval(look, lookMs)
  timer.unref()

  return {
    tried,
    status: () => [...started.values()].map((files) => files.status()),
    of: (queue) => started.get(queue),
    close: async () => {
      clearInterval(timer)
      look()
      await Promise.all([...started.values()].map((files) => files.close()))
    },
  }
}
