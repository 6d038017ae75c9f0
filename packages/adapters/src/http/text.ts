/** JSON put together from texts that are there already: what comes from the log is not parsed to be printed again. */

// eslint-disable-next-line no-control-regex -- these are the characters that JSON escapes
const needsEscape = /["\\\u0000-\u001f\ud800-\udfff]/

export const quote = (text: string): string => (needsEscape.test(text) ? JSON.stringify(text) : `"${text}"`)

export const quoteAll = (texts: ReadonlyArray<string>): string =>
  texts.length === 0 ? '[]' : `[${texts.map(quote).join(',')}]`

/** The members of a JSON object's text, as they are spliced behind others: `,"a":1`; empty for `{}`. */
export const membersOf = (object: string | undefined): string =>
  object === undefined || object.length <= 2 ? '' : `,${object.slice(1, -1)}`
