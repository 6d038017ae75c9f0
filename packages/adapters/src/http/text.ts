/** JSON put together from texts that are there already: what comes from the log is not parsed to be printed again. */
import { quote } from '@daybook/core'

export { quote }

export const quoteAll = (texts: ReadonlyArray<string>): string =>
  texts.length === 0 ? '[]' : `[${texts.map(quote).join(',')}]`

/** The members of a JSON object's text, as they are spliced behind others: `,"a":1`; empty for `{}`. */
export const membersOf = (object: string | undefined): string =>
  object === undefined || object.length <= 2 ? '' : `,${object.slice(1, -1)}`
