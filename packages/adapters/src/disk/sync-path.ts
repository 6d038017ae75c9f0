import { open } from 'node:fs/promises'

/** Syncs a file; or a folder, so that the name of a new or renamed file in it survives a power cut. */
export const syncPath = async (path: string): Promise<void> => {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
