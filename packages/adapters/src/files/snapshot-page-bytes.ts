/** A page of a snapshot as bytes: a head with three lengths, then the numbers, then the text. */
import type { SnapshotPage } from '@daybook/core'
import { packNumbers, unpackNumbers } from './packed-numbers.js'

/** Rows, bytes of numbers, bytes of text. */
export const pageHeadBytes = 12

export const bytesOf = ({ text, rows, numbers }: SnapshotPage): ReadonlyArray<Uint8Array> => {
  const packed = packNumbers(numbers, rows)
  const told = Buffer.from(text)
  return [new Uint8Array(Uint32Array.of(rows, packed.byteLength, told.byteLength).buffer), packed, told]
}

export interface PageHead {
  readonly rows: number
  readonly numbersBytes: number
  readonly textBytes: number
}

export const pageHeadOf = (bytes: Buffer): PageHead => {
  const [rows = 0, numbersBytes = 0, textBytes = 0] = new Uint32Array(Uint8Array.from(bytes).buffer)
  return { rows, numbersBytes, textBytes }
}

/** Throws when the bytes after the head are not a page. */
export const pageOf = ({ rows, numbersBytes }: PageHead, bytes: Buffer): SnapshotPage => {
  // Every row has some text. Columns of equal values take no bytes, so the length of the numbers does not limit the rows.
  if (rows > bytes.byteLength) throw new Error(`${rows} tasks in ${bytes.byteLength} bytes`)
  // A copy: it starts at the beginning of its own buffer.
  const numbers = unpackNumbers(Uint8Array.from(bytes.subarray(0, numbersBytes)), rows)
  return { rows, numbers, text: bytes.toString('utf8', numbersBytes) }
}
