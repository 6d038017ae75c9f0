/**
 * Whether lines of JSON already have the form in which `JSON.stringify` prints what `JSON.parse` reads, so that they need not be parsed and printed.
 * That means: no white space, numbers and texts in their shortest form, no repeated key, and no key that looks like a number, because such keys are
 * moved to the front.
 *
 * `canonical-end.ts` walks a value in the same way, but has another rule for keys. There they are sorted, so each is compared with the previous one.
 * Here they have any order, so the hashes of all keys of an object are kept. Both share the code for scalars. A common walk with the rule as a
 * parameter would call a function for each key, and the depth, the lines and the words of four bytes are only here.
 */
import { jsonDepthMax } from '@daybook/core'
import { escapes, scalarEnd } from './canonical-end.js'
import { backslash, closeBrace, closeBracket, colon, comma, lineFeed, nine, openBrace, openBracket, quote, zero } from './json-bytes.js'

/** A content is somewhat deeper than its payload. */
const depthMax = jsonDepthMax + 8

/** Hashes of the keys of all open objects, and their number. */
const keys = new Int32Array(1_024)
let keysOpen = 0

/** The bytes, four at a time: texts are most of a log, and looking at each byte takes three times as long. */
let words: Int32Array = new Int32Array(0)

/**
 * The number of lines, if each is an object of this form, with an object as its last member and no other objects as members. −1 if one is not, or if
 * this check cannot tell. It proves that an object which was spliced into a line as its last member has not ended the line early.
 *
 * Gotchas: assumes that the bytes are valid UTF-8.
 */
export const stableLines = (given: Buffer): number => {
  const bytes = withWords(given)
  let lines = 0
  for (let at = 0; at < bytes.length; lines++) {
    keysOpen = 0
    at = lineEnd(bytes, at)
    if (at < 0) return -1
  }
  return lines
}

/**
 * Whether each object has this form, whatever is between them. `places`: for each object, its first byte and the byte after its end.
 *
 * Gotchas: as above.
 */
export const stableObjects = (given: Buffer, places: Int32Array): boolean => {
  const bytes = withWords(given)
  for (let i = 0; i < places.length; i += 2) {
    keysOpen = 0
    const start = places[i] as number
    if (bytes[start] !== openBrace || objectEnd(bytes, start, 1) !== places[i + 1]) return false
  }
  return true
}

const withWords = (given: Buffer): Buffer => {
  const bytes = given.byteOffset % 4 === 0 ? given : Buffer.from(given.buffer.slice(given.byteOffset, given.byteOffset + given.length))
  words = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2)
  return bytes
}

const lineEnd = (bytes: Buffer, start: number): number => {
  if (bytes[start] !== openBrace) return -1
  for (let at = start + 1; ; at++) {
    at = keyEnd(bytes, at, 0)
    if (at < 0) return -1
    if (bytes[at] === openBrace) {
      const end = objectEnd(bytes, at, 1)
      return end >= 0 && bytes[end] === closeBrace && bytes[end + 1] === lineFeed ? end + 2 : -1
    }
    if (bytes[at] === openBracket) return -1
    at = valueEnd(bytes, at, 1)
    if (at < 0 || bytes[at] !== comma) return -1
  }
}

const valueEnd = (bytes: Buffer, at: number, depth: number): number => {
  switch (bytes[at]) {
    case quote:
      return textEnd(bytes, at)
    case openBrace:
      return depth >= depthMax ? -1 : objectEnd(bytes, at, depth + 1)
    case openBracket:
      return depth >= depthMax ? -1 : listEnd(bytes, at, depth + 1)
    default:
      return scalarEnd(bytes, at)
  }
}

const objectEnd = (bytes: Buffer, start: number, depth: number): number => {
  if (bytes[start + 1] === closeBrace) return start + 2
  const first = keysOpen
  for (let at = start + 1; ; at++) {
    at = keyEnd(bytes, at, first)
    if (at < 0) return -1
    at = valueEnd(bytes, at, depth)
    if (at < 0) return -1
    if (bytes[at] === closeBrace) {
      keysOpen = first
      return at + 1
    }
    if (bytes[at] !== comma) return -1
  }
}

const listEnd = (bytes: Buffer, start: number, depth: number): number => {
  if (bytes[start + 1] === closeBracket) return start + 2
  for (let at = start + 1; ; at++) {
    at = valueEnd(bytes, at, depth)
    if (at < 0) return -1
    if (bytes[at] === closeBracket) return at + 1
    if (bytes[at] !== comma) return -1
  }
}

/** Offset just after the key that begins at `start` and its colon. `first`: the index of the first key of its object. */
const keyEnd = (bytes: Buffer, start: number, first: number): number => {
  if (bytes[start] !== quote) return -1
  const begin = bytes[start + 1] as number
  if (begin >= zero && begin <= nine) return -1
  let hash = 0
  let at = start + 1
  for (; ; at++) {
    const byte = bytes[at] as number
    if (byte === quote) break
    if (byte < 0x20 || byte === backslash || at >= bytes.length) return -1
    hash = (Math.imul(hash, 31) + byte) | 0
  }
  // Different keys with the same hash are rare, and are left to the parser.
  for (let i = first; i < keysOpen; i++) if (keys[i] === hash) return -1
  if (keysOpen === keys.length) return -1
  keys[keysOpen++] = hash
  return bytes[at + 1] === colon ? at + 2 : -1
}

const textEnd = (bytes: Buffer, start: number): number => {
  const { length } = bytes
  for (let at = start + 1; at < length; at++) {
    if ((at & 3) === 0) {
      let word = at >> 2
      while (word < words.length && isPlain(words[word] as number)) word++
      at = word << 2
      if (at >= length) return -1
    }
    const byte = bytes[at] as number
    if (byte > backslash) continue
    if (byte === quote) return at + 1
    if (byte < 0x20) return -1
    if (byte === backslash && escapes[bytes[++at] ?? 0] === 0) return -1
  }
  return -1
}

/** Whether none of the four bytes is a control character, a quote or a backslash. Subtracting one from a zero byte sets its highest bit. */
const isPlain = (word: number): boolean => {
  const quotes = word ^ 0x22222222
  const backslashes = word ^ 0x5c5c5c5c
  return ((((word - 0x20202020) & ~word) | ((quotes - 0x01010101) & ~quotes) | ((backslashes - 0x01010101) & ~backslashes)) & highBits) === 0
}
const highBits = 0x80808080 | 0
