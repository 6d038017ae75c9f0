/** Finds the end of a JSON value that is already canonical (RFC 8785), without parsing it. Such a value need not be printed again. */
import { isExactNumber, jsonDepthMax } from '@daybook/core'
import { backslash, closeBrace, closeBracket, colon, comma, minus, openBrace, openBracket, quote, zero } from './json-bytes.js'

const byteSet = (signs: string): Uint8Array => {
  const table = new Uint8Array(256)
  for (const sign of signs) table[sign.charCodeAt(0)] = 1
  return table
}
const inNumber = byteSet('0123456789+-.eE')
/** The characters after a backslash in canonical text. `\u` escapes are left to the parser. */
export const escapes = byteSet('"\\bfnrt')

/**
 * Offset just after the JSON value that begins at `at`, if its text is canonical; −1 if it is not, or if this
 * check cannot tell.
 *
 * Gotchas: assumes that the bytes are valid UTF-8; the caller checks that.
 */
export const canonicalEnd = (bytes: Buffer, at: number, depth = 0): number => {
  switch (bytes[at]) {
    case quote:
      return stringEnd(bytes, at)
    case openBrace:
      return depth >= jsonDepthMax ? -1 : objectEnd(bytes, at, depth + 1)
    case openBracket:
      return depth >= jsonDepthMax ? -1 : listEnd(bytes, at, depth + 1)
    default:
      return scalarEnd(bytes, at)
  }
}

/** The same for a number, `true`, `false` and `null`, which have only one form. */
export const scalarEnd = (bytes: Buffer, at: number): number => {
  switch (bytes[at]) {
    case 0x74:
      return stands(bytes, at, 'true') ? at + 4 : -1
    case 0x66:
      return stands(bytes, at, 'false') ? at + 5 : -1
    case 0x6e:
      return stands(bytes, at, 'null') ? at + 4 : -1
    default:
      return numberEnd(bytes, at)
  }
}

const stringEnd = (bytes: Buffer, start: number): number => {
  const { length } = bytes
  for (let at = start + 1; at < length; at++) {
    const byte = bytes[at] as number
    if (byte > backslash) continue
    if (byte === quote) return at + 1
    if (byte < 0x20) return -1
    if (byte === backslash && escapes[bytes[++at] ?? 0] === 0) return -1
  }
  return -1
}

/** Whether the bytes at `at` are this ASCII text. */
export const stands = (bytes: Buffer, at: number, text: string): boolean => {
  for (let i = 0; i < text.length; i++) if (bytes[at + i] !== text.charCodeAt(i)) return false
  return true
}

/**
 * Offset of the quote that ends the key beginning at `start`. −1 for keys that are not plain ASCII, whose bytes need not sort as their characters do,
 * and for keys that the parser may refuse.
 */
export const keyEnd = (bytes: Buffer, start: number): number => {
  if (bytes[start] !== quote) return -1
  for (let at = start + 1; at < bytes.length; at++) {
    const byte = bytes[at] as number
    if (byte === quote) return bytes[at + 1] !== colon || isSuspect(bytes, start) ? -1 : at
    if (byte < 0x20 || byte >= 0x7f || byte === backslash) return -1
  }
  return -1
}

const isSuspect = (bytes: Buffer, key: number): boolean => {
  switch (bytes[key + 1]) {
    case 0x5f:
      return stands(bytes, key, '"__proto__"')
    case 0x63:
      return stands(bytes, key, '"constructor"')
    default:
      return false
  }
}

const objectEnd = (bytes: Buffer, start: number, depth: number): number => {
  if (bytes[start + 1] === closeBrace) return start + 2
  let before = -1
  for (let at = start + 1; ; at++) {
    const key = at
    const end = keyEnd(bytes, key)
    if (end < 0 || (before >= 0 && !isAscending(bytes, before, key))) return -1
    before = key
    at = canonicalEnd(bytes, end + 2, depth)
    if (at < 0) return -1
    if (bytes[at] === closeBrace) return at + 1
    if (bytes[at] !== comma) return -1
  }
}

/** Whether one key sorts before another. Each ends with a quote, which counts as the end and not as a character: space and `!` are smaller. */
const isAscending = (bytes: Buffer, one: number, other: number): boolean => {
  for (let i = 1; ; i++) {
    const a = bytes[one + i] as number
    const b = bytes[other + i] as number
    if (a === quote) return b !== quote
    if (a !== b) return b !== quote && a < b
  }
}

const listEnd = (bytes: Buffer, start: number, depth: number): number => {
  if (bytes[start + 1] === closeBracket) return start + 2
  for (let at = start + 1; ; at++) {
    at = canonicalEnd(bytes, at, depth)
    if (at < 0) return -1
    if (bytes[at] === closeBracket) return at + 1
    if (bytes[at] !== comma) return -1
  }
}

/** Integers of up to this many digits are exact, and their text is canonical. */
const plainDigits = 15

const numberEnd = (bytes: Buffer, start: number): number => {
  let end = start
  let isInteger = true
  for (; inNumber[bytes[end] ?? 0] === 1; end++) {
    if ((bytes[end] as number) < zero && !(end === start && bytes[end] === minus)) isInteger = false
    else if ((bytes[end] as number) > 0x39) isInteger = false
  }
  const first = bytes[start] === minus ? start + 1 : start
  const digits = end - first
  if (isInteger && digits > 0 && digits <= plainDigits && (bytes[first] !== zero || end === start + 1)) return end
  const text = bytes.toString('latin1', start, end)
  const value = Number(text)
  return digits > 0 && `${value}` === text && isExactNumber(value) ? end : -1
}
