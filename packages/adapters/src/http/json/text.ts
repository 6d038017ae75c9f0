/** Builds JSON from JSON texts, so that text from the log need not be parsed and printed again. */
import { quote } from '@daybook/core'

export { quote }

/**
 * Replaces each lone surrogate by U+FFFD. New ones are refused, but older logs contain some. A single one would make a whole page unreadable for
 * strict parsers such as jq's.
 */
export const unicodeText = (json: string): string =>
  json.includes('\\ud') || json.includes('\\uD') ? json.replace(escape, (part, lone?: string) => (lone === undefined ? part : '\\ufffd')) : json

/** An escaped surrogate pair, an escaped lone surrogate, or any other escape. */
const escape = /\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|u([dD][89a-fA-F]..)|.)/g

export const quoteAll = (texts: ReadonlyArray<string>): string =>
  texts.length === 0 ? '[]' : `[${texts.map(quote).join(',')}]`

/** The members of a JSON object, to be appended to other members: `,"a":1`; empty for `{}`. */
export const membersOf = (object: string | undefined): string =>
  object === undefined || object.length <= 2 ? '' : `,${object.slice(1, -1)}`
