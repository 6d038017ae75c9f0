/** A page of a snapshot as bytes: a head with five numbers, then the numbers, the text, and the rows of tasks as they are. */
import { type PageKind, pageKinds, type SnapshotPage } from '@daybook/core'
import { packNumbers, unpackNumbers } from './packed-numbers.js'

/** The head: the kind; number of rows; lengths of the numbers and of the text in bytes; and the length of the rows plus one, or 0 for a page without rows. */
export const pageHeadBytes = 20
/** The largest number of rows in a page without text. */
const rowsMax = 1_024

export const bytesOf = ({ kind, text, rows, numbers, bytes }: SnapshotPage): ReadonlyArray<Uint8Array> => {
  const packed = packNumbers(numbers, rows)
  const told = Buffer.from(text)
  const head = Uint32Array.of(pageKinds.indexOf(kind), rows, packed.byteLength, told.byteLength, bytes === undefined ? 0 : bytes.byteLength + 1)
  return [new Uint8Array(head.buffer), packed, told, ...(bytes === undefined ? [] : [bytes])]
}

export interface PageHead {
  /** `undefined` if there is no such kind. */
  readonly kind: PageKind | undefined
  readonly rows: number
  readonly numbersBytes: number
  readonly textBytes: number
  /** `undefined` for a page without rows of tasks. */
  readonly rowsBytes: number | undefined
}

export const pageHeadOf = (bytes: Buffer): PageHead => {
  const [kind = 0, rows = 0, numbersBytes = 0, textBytes = 0, more = 0] = new Uint32Array(Uint8Array.from(bytes).buffer)
  return { kind: pageKinds[kind], rows, numbersBytes, textBytes, rowsBytes: more === 0 ? undefined : more - 1 }
}

export const bytesAfter = ({ numbersBytes, textBytes, rowsBytes = 0 }: PageHead): number => numbersBytes + textBytes + rowsBytes

/** Throws if the bytes after the head are not a page. */
export const pageOf = ({ kind, rows, numbersBytes, textBytes, rowsBytes }: PageHead, bytes: Buffer): SnapshotPage => {
  if (kind === undefined) throw new Error('a page of an unknown kind')
  // Every row has some text or bytes. Columns of equal values take no bytes, so the length of the numbers does not bound the rows.
  if (rows > Math.max(rowsMax, bytes.byteLength)) throw new Error(`${rows} tasks in ${bytes.byteLength} bytes`)
  const textEnd = numbersBytes + textBytes
  // Copied, because they must start at the beginning of their own buffers.
  const numbers = unpackNumbers(new Uint8Array(bytes.subarray(0, numbersBytes)), rows)
  const page = { kind, rows, numbers, text: bytes.toString('utf8', numbersBytes, textEnd) }
  return rowsBytes === undefined ? page : { ...page, bytes: new Uint8Array(bytes.buffer as ArrayBuffer, bytes.byteOffset + textEnd, rowsBytes) }
}
