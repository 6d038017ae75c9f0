import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { readQueueFile } from './read-file.js'
import type { QueueFile } from './types.js'

/** Bytes of one file beyond which it is refused: JSON text is held in memory as a whole. */
export const queueFileBytesMax = 256 * 2 ** 20

/** Where in a project's folder its queue files are, when they are not in the folder itself. */
const subfolders = ['queue', join('.loki', 'queue')]

export interface QueueFolder {
  /** The folder that was read: the one given, or its `queue` or `.loki/queue`. */
  readonly dir: string
  readonly files: ReadonlyArray<QueueFile>
}

/**
 * Reads all `*.json` of a folder (or one file), each for itself: what cannot be read is refused by name.
 *
 * Rejects only when there is nothing to read: no such folder, or no `.json` in it.
 */
export const readQueueFolder = async (path: string): Promise<QueueFolder> => {
  const given = await stat(path)
  if (!given.isDirectory()) return { dir: path, files: [await readOne(path, basename(path))] }
  for (const dir of [path, ...subfolders.map((folder) => join(path, folder))]) {
    const names = await jsonFiles(dir)
    if (names.length === 0) continue
    const files: Array<QueueFile> = []
    for (const name of names) files.push(await readOne(join(dir, name), name))
    return { dir, files }
  }
  throw new Error(`${path} holds no .json files: name the folder with pending.json, completed.json and so on`)
}

const jsonFiles = async (dir: string): Promise<ReadonlyArray<string>> => {
  try {
    const entries = await readdir(dir, { withFileTypes: true })
    return entries.filter((entry) => !entry.isDirectory() && /\.json$/i.test(entry.name)).map((entry) => entry.name).sort()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

const readOne = async (path: string, name: string): Promise<QueueFile> => {
  const refuse = (why: string): QueueFile => ({ name, found: [], mapped: [], refused: [{ file: name, why }] })
  try {
    const { size } = await stat(path)
    if (size > queueFileBytesMax) return refuse(`is over ${queueFileBytesMax} bytes`)
    const bytes = await readFile(path)
    return readQueueFile(new TextDecoder('utf-8', { fatal: true }).decode(bytes), name)
  } catch (error) {
    if (error instanceof TypeError) return refuse('is not UTF-8 text')
    return refuse(`cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
}
