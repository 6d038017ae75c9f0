/** A page of a snapshot as bytes: how many there are of each kind, its numbers, its text. */
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

/** Throws where the bytes behind the head are no page. */
export const pageOf = ({ rows, numbersBytes }: PageHead, bytes: Buffer): SnapshotPage => {
  // Each has some text. Columns of equal values take no bytes, so these alone would not bound what is made of them.
  if (rows > bytes.byteLength) throw new Error(`${rows} tasks in ${bytes.byteLength} bytes`)
  // A copy, which begins where its own buffer does.
  const numbers = unpackNumbers(Uint8Array.from(bytes.subarray(0, numbersBytes)), rows)
  return { rows, numbers, text: bytes.toString('utf8', numbersBytes) }
}
