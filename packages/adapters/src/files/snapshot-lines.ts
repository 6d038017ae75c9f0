import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { StoreError } from '../store/index.js'
import type { SnapshotFile } from './snapshot-format.js'

const chunkBytes = 2 ** 20
const lineFeed = 10

/**
 * Pages of lines; the checksum is known only behind the last one, so a reader folds as it goes and
 * throws the result away if this rejects. Lines share memory with their page until they are parsed.
 */
export const readSnapshotLines = async function* (
  path: string,
  { from, to, footer }: SnapshotFile,
): AsyncGenerator<ReadonlyArray<string>, void, undefined> {
  const damaged = (words: string): StoreError =>
    new StoreError('damaged', `The snapshot ${path} ${words}: an older one, or the log itself, takes its place.`)
  const handle = await open(path, 'r')
  try {
    const hash = createHash('sha256')
    const head = await handle.read(Buffer.alloc(from), 0, from, 0)
    hash.update(head.buffer)
    let rest: Array<Buffer> = []
    let lines = 0
    for (let position = from; position < to; ) {
      const wanted = Math.min(chunkBytes, to - position)
      const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(wanted), 0, wanted, position)
      if (bytesRead === 0) throw damaged('is cut short')
      const chunk = buffer.subarray(0, bytesRead)
      position += bytesRead
      hash.update(chunk)
      const end = chunk.lastIndexOf(lineFeed)
      if (end < 0) {
        rest.push(chunk)
        continue
      }
      const page = Buffer.concat([...rest, chunk.subarray(0, end)]).toString().split('\n')
      rest = end + 1 < chunk.length ? [chunk.subarray(end + 1)] : []
      lines += page.length
      yield page
    }
    if (rest.length > 0 || lines !== footer.lines || hash.digest('hex') !== footer.sha256) {
      throw damaged('does not match its checksum')
    }
  } finally {
    await handle.close()
  }
}
