/** Which texts a client may send as headers. */
import { DaybookError } from '../errors.js'

/** Whether a text may be a token: printable ASCII characters without spaces. */
export const isToken = (text: string): boolean => /^[\x21-\x7e]+$/.test(text)

/** @throws DaybookError `invalid`. The message does not show the token. */
export const tokenText = (text: string): string => {
  if (isToken(text)) return text
  const why = text.trim() === text ? 'has others' : 'begins or ends with a space or line break'
  throw new DaybookError('invalid', `a token has printable ASCII characters without spaces, and the given one ${why}`, { unsent: true })
}

/**
 * @param name The option that the text is from, for the message.
 * @throws DaybookError `invalid` for other characters than printable ASCII.
 */
export const headerText = (name: string, text: string): string => {
  if (/^[\x20-\x7e]*$/.test(text)) return text
  throw new DaybookError('invalid', `${name} may have printable ASCII characters only, and is ${JSON.stringify(text)}`, { unsent: true })
}
