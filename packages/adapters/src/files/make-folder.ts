import { mkdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/**
 * Creates a folder and its parents; does nothing if it exists.
 *
 * *Gotchas*: not `mkdir` with `recursive`, which in Node 20 never returns below `/proc`: a folder exists there but takes no entries, so Node creates
 * the parent, tries again, and so on. Here each folder is tried at most twice.
 *
 * @throws Error with the obstacle.
 */
export const makeFolder = (path: string): void => {
  const folder = resolve(path)
  try {
    makeOne(folder)
  } catch (error) {
    const above = dirname(folder)
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || above === folder) throw error
    makeFolder(above)
    makeLast(folder, above)
  }
}

const makeOne = (folder: string): void => {
  try {
    mkdirSync(folder)
  } catch (error) {
    // An existing folder is fine, even on a read-only file system.
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) throw error
  }
}

/** The parent exists now. If creating the folder still fails because it is missing, the file system does not allow folders there. */
const makeLast = (folder: string, above: string): void => {
  try {
    makeOne(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw new Error(`no folder can be made in ${above}`, { cause: error })
  }
}
