import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncFolder } from './sync-folder.js'

/**
 * Replaces a file as a whole: whoever reads it sees the former text or the new one, also after a power cut.
 * The folder entry is not synced here; see `syncFolder`.
 *
 * *Gotchas*: one writer per file at a time; the temporary name is fixed, so that a crash leaves at most one.
 */
export const writeWhole = async (file: string, chunks: Iterable<string>): Promise<void> => {
  const temporary = `${file}.tmp`
  const handle = await open(temporary, 'w', 0o644)
  try {
    for (const chunk of chunks) await handle.appendFile(chunk)
    await handle.sync()
  } catch (error) {
    await handle.close()
    await rm(temporary, { force: true })
    throw error
  }
  await handle.close()
  await rename(temporary, file)
}

/** Appends to a file and syncs it; a last line that a crash cut short is ended first. */
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
  await syncFolder(dirname(file))
}
