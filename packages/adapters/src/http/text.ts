/** JSON put together from texts that are there already: what comes from the log is not parsed to be printed again. */
import { quote } from '@daybook/core'

export { quote }

/**
 * The JSON text with U+FFFD for each lone surrogate. None is taken in any more, but older logs hold some, and one of
 * them would make a whole page unreadable to parsers that keep to Unicode, as jq's.
 */
export const unicodeText = (json: string): string =>
  json.includes('\\ud') || json.includes('\\uD') ? json.replace(escape, (part, lone?: string) => (lone === undefined ? part : '\\ufffd')) : json

/** A pair, a lone surrogate, or any other escape. */
const escape = /\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|u([dD][89a-fA-F]..)|.)/g

export const quoteAll = (texts: ReadonlyArray<string>): string =>
  texts.length === 0 ? '[]' : `[${texts.map(quote).join(',')}]`

/** The members of a JSON object's text, as they are spliced behind others: `,"a":1`; empty for `{}`. */
export const membersOf = (object: string | undefined): string =>
  object === undefined || object.length <= 2 ? '' : `,${object.slice(1, -1)}`
