/** Splits the items of one call into as many requests as the server's limits require. */
import { DaybookError } from '../errors.js'

/** The server's limit on tasks in one request. */
const bulkMax = 1_000

export interface Chunk {
  readonly texts: Array<string>
  readonly indexes: Array<number>
}

/** Serialises each value once, and divides the texts into requests within the server's limits. A value that is not JSON is refused and left out. */
export const chunksOf = (
  values: ReadonlyArray<unknown>,
  print: (value: unknown) => string | DaybookError,
  bytesMax: number,
  refuse: (index: number, error: DaybookError) => void,
): ReadonlyArray<Chunk> => {
  const chunks: Array<Chunk> = []
  let chunk: Chunk | undefined
  let bytes = 0
  for (let i = 0; i < values.length; i++) {
    const text = print(values[i])
    if (text instanceof DaybookError) {
      refuse(i, text)
      continue
    }
    const size = Buffer.byteLength(text) + 1
    if (chunk === undefined || chunk.texts.length >= bulkMax || bytes + size > bytesMax) {
      chunk = { texts: [], indexes: [] }
      chunks.push(chunk)
      bytes = 0
    }
    chunk.texts.push(text)
    chunk.indexes.push(i)
    bytes += size
  }
  return chunks
}
