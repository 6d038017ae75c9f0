/** JSON texts put together from texts, where printing an object would cost several times as much. */

// eslint-disable-next-line no-control-regex -- these are the characters that JSON escapes
const needsEscape = /["\\\u0000-\u001f\ud800-\udfff]/

/** The same as `JSON.stringify` of a string. */
export const quote = (text: string): string => (needsEscape.test(text) ? JSON.stringify(text) : `"${text}"`)
