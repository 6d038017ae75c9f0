import { closeSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** Folders contain what tasks say, and keys. */
const ownerOnly = 0o700

/**
 * Creates a folder that only its owner may read, and its parents with the usual permissions. An existing folder keeps its own. Returns the folders
 * that were created.
 *
 * *Gotchas*: not `mkdir` with `recursive`, which in Node 20 never returns below `/proc`: a folder exists there but takes no entries, so Node creates
 * the parent, tries again, and so on. Here each folder is tried at most twice.
 *
 * @throws Error with the obstacle.
 */
export const makeFolder = (path: string): ReadonlyArray<string> => makeWithParents(resolve(path), ownerOnly)

/**
 * The same for what must survive a power cut, which could otherwise take a new folder with everything that was synced in it. Waits for the disk if a
 * folder is created.
 */
export const makeDurableFolder = (path: string): void => {
  for (const folder of makeFolder(path)) syncNames(dirname(folder))
}

const makeWithParents = (folder: string, mode?: number): ReadonlyArray<string> => {
  try {
    return makeOne(folder, mode)
  } catch (error) {
    const above = dirname(folder)
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || above === folder) throw error
    return [...makeWithParents(above), ...makeLast(folder, above, mode)]
  }
}

const makeOne = (folder: string, mode: number | undefined): ReadonlyArray<string> => {
  try {
    mkdirSync(folder, { mode })
    return [folder]
  } catch (error) {
    // An existing folder is fine, even on a read-only file system.
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) throw error
    return []
  }
}

/** The parent exists now. If creating the folder still fails because it is missing, the file system does not allow folders there. */
const makeLast = (folder: string, above: string, mode: number | undefined): ReadonlyArray<string> => {
  try {
    return makeOne(folder, mode)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw new Error(`no folder can be made in ${above}`, { cause: error })
  }
}

/** Syncs a folder, so that the names in it survive a power cut. One may write to a folder that one may not read. Such a folder cannot be synced. */
export const syncNames = (folder: string): void => {
  let descriptor: number
  try {
    descriptor = openSync(folder, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES') return
    throw error
  }
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
