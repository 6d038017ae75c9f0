import { open } from 'node:fs/promises'

/** Syncs the folder: the name of a new or renamed file in it then survives a power cut. */
export const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
