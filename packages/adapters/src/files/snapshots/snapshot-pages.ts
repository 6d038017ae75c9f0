import { createHash, type Hash } from 'node:crypto'
import { open, type FileHandle } from 'node:fs/promises'
import type { SnapshotPage } from '@daybook/core'
import { StoreError } from '../../store/index.js'
import { footerBytes, type SnapshotFile } from './snapshot-format.js'
import { bytesAfter, pageHeadBytes, pageHeadOf, pageOf } from './snapshot-page-bytes.js'

const chunkBytes = 2 ** 20

/** The pages of a snapshot. The checksum comes after the last page, so a reader uses the pages as they come, and discards the result if this rejects. */
export const readSnapshotPages = async function* (
  path: string,
  { from, size, footer }: SnapshotFile,
): AsyncGenerator<SnapshotPage, void, undefined> {
  const damaged = (words: string): StoreError =>
    new StoreError('damaged', `The snapshot ${path} ${words}: an older one, or the log itself, takes its place.`)
  const handle = await open(path, 'r')
  try {
    if ((await handle.stat()).size !== size) throw damaged('has changed since it was listed')
    const hash = createHash('sha256')
    const rest = new Rest(handle, hash, size - footerBytes)
    await rest.take(from)
    let pages = 0
    while (rest.bytes > footer.rows) {
      const page = await nextPage(rest)
      if (page === undefined) throw damaged('is cut short, or does not match its checksum')
      pages++
      yield page
    }
    await rest.take(footer.rows)
    if (pages !== footer.pages || hash.digest('hex') !== footer.sha256) throw damaged('does not match its checksum')
  } finally {
    await handle.close()
  }
}

/** The next page; `undefined` if the bytes are not a page. */
const nextPage = async (rest: Rest): Promise<SnapshotPage | undefined> => {
  const headBytes = await rest.take(pageHeadBytes)
  if (headBytes === undefined) return undefined
  const head = pageHeadOf(headBytes)
  const bytes = await rest.take(bytesAfter(head))
  if (bytes === undefined) return undefined
  try {
    return pageOf(head, bytes)
  } catch {
    return undefined
  }
}

/** Reads a file up to the offset `to` in large chunks, one of them ahead, and hashes what is taken. */
class Rest {
  private chunk: Buffer = Buffer.alloc(0)
  private ahead: Promise<Buffer>
  private position = 0
  /** Number of bytes that are left. */
  bytes: number

  constructor(
    private readonly handle: FileHandle,
    private readonly hash: Hash,
    private readonly to: number,
  ) {
    this.bytes = to
    this.ahead = this.read()
  }

  /** The next bytes; `undefined` if fewer are left. */
  async take(count: number): Promise<Buffer | undefined> {
    if (count > this.bytes) return undefined
    const parts: Array<Buffer> = []
    for (let missing = count; ; ) {
      const part = this.chunk.subarray(0, missing)
      this.chunk = this.chunk.subarray(part.byteLength)
      parts.push(part)
      missing -= part.byteLength
      if (missing === 0) break
      this.chunk = await this.ahead
      // The file was cut since it was inspected.
      if (this.chunk.byteLength === 0) return undefined
      this.hash.update(this.chunk)
      this.ahead = this.read()
    }
    this.bytes -= count
    return parts.length === 1 ? parts[0] : Buffer.concat(parts)
  }

  private read(): Promise<Buffer> {
    const wanted = Math.min(chunkBytes, this.to - this.position)
    const reading = this.handle.read(Buffer.allocUnsafeSlow(wanted), 0, wanted, this.position).then(({ buffer, bytesRead }) => buffer.subarray(0, bytesRead))
    this.position += wanted
    // Whoever takes the bytes gets the error.
    reading.catch(() => undefined)
    return reading
  }
}
