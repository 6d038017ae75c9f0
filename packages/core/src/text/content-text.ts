/** Checks that the text of a content or result is JSON, without parsing it. The fold does not use these texts. */
import * as t from 'io-ts'
import { jsonDepthMax } from './json.js'

/**
 * JSON text of an object, without white space between its parts, because it is inserted into other JSON and into lines. A content is nested one level
 * deeper than its payload.
 */
export const ContentText = t.refinement(
  t.string,
  (text) => text.charCodeAt(0) === openBrace && valueEnd(text, 0, 0) === text.length && text.isWellFormed(),
  'JSON object as text, without white space around its parts',
)

const quote = 0x22
const comma = 0x2c
const zero = 0x30
const nine = 0x39
const colon = 0x3a
const openBracket = 0x5b
const backslash = 0x5c
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d
const depthMax = jsonDepthMax + 1

/**
 * Offset of the end of the value that begins at `at`; −1 if it is invalid. Beyond the end of the text the character code is NaN, which equals
 * nothing.
 */
const valueEnd = (text: string, at: number, depth: number): number => {
  switch (text.charCodeAt(at)) {
    case quote:
      return stringEnd(text, at)
    case openBrace:
      return depth >= depthMax ? -1 : membersEnd(text, at, depth + 1)
    case openBracket:
      return depth >= depthMax ? -1 : itemsEnd(text, at, depth + 1)
    default:
      return wordEnd(text, at)
  }
}

const membersEnd = (text: string, start: number, depth: number): number => {
  if (text.charCodeAt(start + 1) === closeBrace) return start + 2
  for (let at = start + 1; ; at++) {
    const key = text.charCodeAt(at) === quote ? stringEnd(text, at) : -1
    if (key < 0 || text.charCodeAt(key) !== colon) return -1
    at = valueEnd(text, key + 1, depth)
    if (at < 0) return -1
    const next = text.charCodeAt(at)
    if (next === closeBrace) return at + 1
    if (next !== comma) return -1
  }
}

const itemsEnd = (text: string, start: number, depth: number): number => {
  if (text.charCodeAt(start + 1) === closeBracket) return start + 2
  for (let at = start + 1; ; at++) {
    at = valueEnd(text, at, depth)
    if (at < 0) return -1
    const next = text.charCodeAt(at)
    if (next === closeBracket) return at + 1
    if (next !== comma) return -1
  }
}

const stringEnd = (text: string, start: number): number => {
  const { length } = text
  for (let at = start + 1; at < length; at++) {
    const code = text.charCodeAt(at)
    if (code > backslash) continue
    if (code === quote) return at + 1
    if (code < 0x20) return -1
    if (code === backslash) {
      at = escapeEnd(text, at) - 1
      if (at < 0) return -1
    }
  }
  return -1
}

const escape = /\\(?:["\\/bfnrt]|u(?![dD][89a-fA-F])[0-9a-fA-F]{4}|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})/y
const word = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y

/** Accepts escaped surrogates only in pairs. */
const escapeEnd = (text: string, at: number): number => endOf(escape, text, at)
const wordEnd = (text: string, at: number): number => {
  // Most numbers are small and whole, and a loop reads these faster than a regular expression.
  let end = at
  let code = text.charCodeAt(end)
  if (code > zero) while (code >= zero && code <= nine) code = text.charCodeAt(++end)
  return end > at && (code === comma || code === closeBrace || code === closeBracket) ? end : endOf(word, text, at)
}

const endOf = (pattern: RegExp, text: string, at: number): number => {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : -1
}
