/** Queue files of all queues: those of `default` in the folder itself, every other queue in a sub-folder. */
import { join } from 'node:path'
import type { Daybook } from '../engine/index.js'
import { type QueueFiles, startQueueFilesOf } from './queue-files.js'

export interface QueueFoldersOptions {
  readonly daybook: Daybook
  /** Created when missing. */
  readonly dir: string
  readonly warn?: (message: string) => void
}

export interface QueueFolders {
  /** The files of one queue; `undefined` before its first event is noticed. */
  readonly of: (queue: string) => QueueFiles | undefined
  /** Shows what has happened until now, then stops. */
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
 * Starts to keep the files; resolves when those of all queues that exist are there.
 *
 * *Gotchas*: the folder belongs to Daybook. What others write into these files is overwritten; `daybook
 * import` takes tasks in. On file systems without case, queues that differ in case alone share a folder.
 */
export const startQueueFiles = async ({ daybook, dir, warn = () => undefined }: QueueFoldersOptions): Promise<QueueFolders> => {
  const started = new Map<string, QueueFiles>()
  const starting = new Map<string, Promise<void>>()

  const start = async (queue: string): Promise<void> => {
    const engine = daybook.queue(queue)
    if (engine === undefined) return
    started.set(queue, await startQueueFilesOf({ engine, log: daybook.log, dir: folderOf(dir, queue), warn }))
  }
  // The default queue has files from the start, so that tools find them before its first task.
  const first = await daybook.open('default')
  started.set('default', await startQueueFilesOf({ engine: first, log: daybook.log, dir, warn }))
  for (const engine of daybook.queues()) if (!started.has(engine.name)) await start(engine.name)

  const failed = new Set<string>()
  const look = (): void => {
    for (const { name } of daybook.queues()) {
      if (started.has(name) || starting.has(name)) continue
      const begun = start(name)
        .then(() => void failed.delete(name))
        .catch((error: unknown) => {
          if (!failed.has(name)) warn(`the queue files of ${name} cannot be written, and are tried again: ${String(error)}`)
          failed.add(name)
        })
        .finally(() => starting.delete(name))
      starting.set(name, begun)
    }
  }
  const timer = setInterval(look, lookMs)
  timer.unref()

  return {
    of: (queue) => started.get(queue),
    close: async () => {
      clearInterval(timer)
      look()
      await Promise.all(starting.values())
      await Promise.all([...started.values()].map((files) => files.close()))
    },
  }
}
