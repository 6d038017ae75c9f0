import { open } from 'node:fs/promises'

/** Syncs a folder, so that the name of a new or renamed file in it survives a power cut. It can sync a file as well. */
export const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
