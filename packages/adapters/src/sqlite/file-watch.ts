/**
 * Notices that the file of a log, or its WAL, was deleted or exchanged while it is open. SQLite does not look, and goes on writing to a file that has
 * no name any more. What is written then is gone when the process ends.
 */
import { statSync } from 'node:fs'
import { basename } from 'node:path'

export interface GoneFile {
  readonly name: string
  /** What to do about it. */
  readonly remedy: string
}

/** The returned function looks at the log and its WAL. It returns one that is not the file that it saw before, and `undefined` if both are. It takes some microseconds. */
export const watchFiles = (file: string): (() => GoneFile | undefined) => {
  const wal = `${file}-wal`
  const remedies = new Map([
    [file, 'If it was moved, move it back; otherwise stop the server, and restore a backup'],
    [wal, `Stop the server without killing it: at its end it writes to ${basename(file)} what is not there yet`],
  ])
  const inodes = new Map<string, number>()
  return () => {
    for (const [path, remedy] of remedies) {
      const found = inodeOf(path)
      if (found === 'unknown') continue
      const before = inodes.get(path)
      if (before !== undefined && found !== before) return { name: basename(path), remedy }
      // The WAL is made with the first event.
      if (found !== 'missing') inodes.set(path, found)
    }
    return undefined
  }
}

/** `unknown` if that cannot be told now. */
const inodeOf = (path: string): number | 'missing' | 'unknown' => {
  try {
    return statSync(path, { throwIfNoEntry: false })?.ino ?? 'missing'
  } catch {
    return 'unknown'
  }
}
