import { randomBytes } from 'node:crypto'
import { open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { syncPath } from './sync-path.js'

/** Synced after this many bytes: syncing a hundred megabytes at the end would delay the log's own syncs. */
const unsyncedMax = 2 ** 20
/** An unfinished file that is older than this was left by a crash. In milliseconds. */
const leftoverAgeMs = 3_600_000

/**
 * Replaces a file atomically: readers see the old text or the new one, even after a power cut. If two writers replace it at the same time, the last
 * one wins. The folder entry is not synced here; see `syncPath`.
 */
export const writeWhole = async (file: string, chunks: Iterable<string> | AsyncIterable<string>): Promise<void> => {
  // A unique name: with a fixed one, the second of two writers would write into the file that the first has renamed.
  const unfinished = `${file}.${process.pid}-${randomBytes(6).toString('hex')}.tmp`
  try {
    const handle = await open(unfinished, 'wx', 0o644)
    try {
      let unsynced = 0
      for await (const chunk of chunks) {
        await handle.appendFile(chunk)
        unsynced += chunk.length
        if (unsynced < unsyncedMax) continue
        await handle.datasync()
        unsynced = 0
      }
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(unfinished, file)
  } catch (error) {
    // If this fails as well, the first failure is reported.
    await rm(unfinished, { force: true }).catch(() => undefined)
    throw error
  }
}

/** Removes old unfinished copies of these files, which crashes have left. A young one may belong to another writer. */
export const removeLeftovers = async (dir: string, names: ReadonlyArray<string>): Promise<void> => {
  for (const name of await readdir(dir)) {
    if (!name.endsWith('.tmp') || !names.some((each) => name.startsWith(`${each}.`))) continue
    const path = join(dir, name)
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }))
    if (Date.now() - mtimeMs > leftoverAgeMs) await rm(path, { force: true })
  }
}

/** Appends lines to a file and syncs it. If a crash cut the last line short, that line is ended first. */
export const appendLines = async (file: string, header: string, lines: ReadonlyArray<string>): Promise<void> => {
  const handle = await open(file, 'a+', 0o644)
  try {
    const { size } = await handle.stat()
    let start = size === 0 ? header : ''
    if (size > 0) {
      const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1)
      if (buffer[0] !== 0x0a) start = '\n'
    }
    await handle.appendFile(`${start}${lines.map((line) => `${line}\n`).join('')}`)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await syncPath(dirname(file))
}
