import { isUtf8 } from 'node:buffer'
import type { Dirent } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { errorText } from '../error-text.js'
import { readQueueFile, unreadable } from './read-file.js'
import type { QueueFile, Refused } from './types.js'

/** A larger file is refused, because its whole text is held in memory. In bytes. */
const queueFileBytesMax = 256 * 2 ** 20

/** Folders in which a project may have its queue files. */
const subfolders = ['queue', join('.loki', 'queue')]

export interface QueueFolder {
  /** The folder that was read: the one given, or its `queue` or `.loki/queue`. */
  readonly dir: string
  readonly files: ReadonlyArray<QueueFile>
}

/**
 * Reads all `*.json` of a folder, or one file. A file that cannot be read is refused by name, and so is everything else in the folder that may
 * contain tasks. For a project it reads the folder with the project's queue files.
 *
 * Rejects only if there is nothing to read: no such folder, or no `.json` in it.
 */
export const readQueueFolder = async (path: string, reading: (file: string) => void = () => undefined): Promise<QueueFolder> => {
  const given = await stat(path)
  if (!given.isDirectory()) return { dir: path, files: [await readOne(path, basename(path))] }
  let first: QueueFolder | undefined
  for (const dir of [path, ...subfolders.map((folder) => join(path, folder))]) {
    const files = await readFolder(dir, reading)
    if (files === undefined) continue
    if (files.some(({ isQueueFile }) => isQueueFile)) return { dir, files: [...files, ...(await otherFolders(path, dir, files))] }
    first ??= { dir, files }
  }
  if (first === undefined) throw new Error(`${path} holds no .json files: name the folder with pending.json, completed.json and so on`)
  return first
}

/** The project's folders of queue files that come after the one that is read. Their tasks may be the ones that are in use. */
const otherFolders = async (path: string, read: string, files: ReadonlyArray<QueueFile>): Promise<ReadonlyArray<QueueFile>> => {
  const others: Array<QueueFile> = []
  // -1 is the folder itself.
  for (const folder of subfolders.slice(subfolders.findIndex((each) => join(path, each) === read) + 1)) {
    const why = await unreadFolder(join(path, folder))
    const name = `${folder}/`
    if (why !== undefined && !files.some((file) => file.name === name)) others.push(unreadable(name, why))
  }
  return others
}

/** Why a folder with `.json` files is left out; `undefined` if it has none. */
const unreadFolder = async (dir: string): Promise<string | undefined> => {
  const count = (await entriesOf(dir).catch(() => [])).filter(({ name }) => isJson(name)).length
  return count === 0 ? undefined : `is not read: a folder with ${count} .json ${count === 1 ? 'file' : 'files'} of its own; import it by itself`
}

/** `undefined` if there is no `.json`. */
const readFolder = async (dir: string, reading: (file: string) => void): Promise<ReadonlyArray<QueueFile> | undefined> => {
  const entries = await entriesOf(dir)
  const names = entries.filter((entry) => !entry.isDirectory() && isJson(entry.name)).map(({ name }) => name).sort()
  if (names.length === 0) return undefined
  const files: Array<QueueFile> = []
  for (const name of names) {
    reading(name)
    files.push(await readOne(join(dir, name), name))
  }
  const beside = await besides(dir, entries)
  return beside.length === 0 ? files : [...files, ...beside.map(({ file, why }) => unreadable(file, why))]
}

const isJson = (name: string): boolean => /\.json$/i.test(name)

/** Other entries of the folder that may contain tasks. */
const besides = async (dir: string, entries: ReadonlyArray<Dirent>): Promise<ReadonlyArray<Pick<Refused, 'file' | 'why'>>> => {
  const found: Array<Pick<Refused, 'file' | 'why'>> = []
  for (const entry of entries) {
    if (!entry.isDirectory()) {
      if (/\.(jsonl|ndjson|ya?ml)$/i.test(entry.name)) found.push({ file: entry.name, why: 'is not read: tasks are taken from .json files' })
      continue
    }
    const why = await unreadFolder(join(dir, entry.name))
    if (why !== undefined) found.push({ file: `${entry.name}/`, why })
  }
  return found
}

const entriesOf = async (dir: string): Promise<ReadonlyArray<Dirent>> => {
  try {
    return await readdir(dir, { withFileTypes: true })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

const readOne = async (path: string, name: string): Promise<QueueFile> => {
  try {
    const { size } = await stat(path)
    if (size > queueFileBytesMax) return unreadable(name, `is over ${queueFileBytesMax} bytes`)
    const bytes = await readFile(path)
    return isUtf8(bytes) ? readQueueFile(new TextDecoder().decode(bytes), name) : unreadable(name, 'is not UTF-8 text')
  } catch (error) {
    return unreadable(name, `cannot be read: ${errorText(error)}`)
  }
}
