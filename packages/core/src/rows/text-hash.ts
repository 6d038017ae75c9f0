/** Hashes of texts in the form of bytes. Equal texts have equal bytes, so a row is found by a text without making the text of the row. */
import { ByteWriter } from './bytes.js'

/**
 * The hash of some bytes; never 0. All bytes count, because ids and keys may begin or end alike. With a random seed nobody can choose texts that all
 * have the same hash.
 */
export const hashOfBytes = (bytes: Uint8Array, from: number, to: number, seed: number): number => {
  let hash = seed ^ (to - from)
  let at = from
  for (; at + 4 <= to; at += 4) {
    const word = (bytes[at] as number) | ((bytes[at + 1] as number) << 8) | ((bytes[at + 2] as number) << 16) | ((bytes[at + 3] as number) << 24)
    hash = Math.imul(hash ^ word, 0x9e3779b1)
    hash ^= hash >>> 15
  }
  for (; at < to; at++) hash = Math.imul(hash ^ (bytes[at] as number), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 16), 0xc2b2ae35)
  hash ^= hash >>> 13
  return hash === 0 ? 1 : hash
}

const writer = new ByteWriter()
/** Longer texts are rare. */
const textBytes = new Uint8Array(512)

/** The number of bits of {@link checkOfBytes}. */
export const checkBits = 4

/** A few bits of another hash. Most texts with the same hash differ in them. */
export const checkOfBytes = (bytes: Uint8Array, from: number, to: number, seed: number): number => hashOfBytes(bytes, from, to, ~seed) >>> (32 - checkBits)

/** The same of a text. */
export const checkOfText = (text: string, seed: number): number => hashOfText(text, ~seed) >>> (32 - checkBits)

/** The hash of a text: that of its bytes. */
export const hashOfText = (text: string, seed: number): number => {
  writer.begin(textBytes, 0)
  writer.text(text)
  return hashOfBytes(writer.end(), 0, writer.length, seed)
}
