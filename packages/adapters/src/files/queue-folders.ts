/** Queue files of all queues: those of `default` in the folder itself, every other queue in a sub-folder. */
import { join } from 'node:path'
import type { Daybook, QueueEngine } from '../engine/index.js'
import { type QueueFiles, type QueueFilesStatus, startQueueFilesOf } from './queue-files.js'

export interface QueueFoldersOptions {
  readonly daybook: Daybook
  /** Made when it is missing. */
  readonly dir: string
  readonly warn?: (message: string) => void
}

export interface QueueFolders {
  /** Resolves when writing was tried for all queues that there were, whether that went well or not. */
  readonly tried: Promise<void>
  /** Of each queue. */
  readonly status: () => ReadonlyArray<QueueFilesStatus>
  /** The files of one queue; `undefined` before its first event is noticed. */
  readonly of: (queue: string) => QueueFiles | undefined
  /** Shows what has happened until now, as far as that does not take long, then stops. */
  readonly close: () => Promise<void>
}

/** How often new queues are looked for. */
const lookMs = 50

/** A queue may be called like one of the files: its folder is not. */
export const folderOf = (dir: string, queue: string): string => {
  if (queue === 'default') return dir
  return join(dir, /\.(json|md|tmp|queue)$/i.test(queue) ? `${queue}.queue` : queue)
}

/**
 * Starts to keep the files. Never fails: what stands in the way is told, shown in the status, and tried again.
 *
 * *Gotchas*: the folder belongs to Daybook. What others write into these files is overwritten; `daybook
 * import` takes tasks in. On file systems without case, queues that differ in case alone share a folder.
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
  // A daybook that cannot be read is for whoever opened it.
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
