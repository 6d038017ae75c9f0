/** JSON whose numbers are shown as they were sent: 9007199254740993 is not rounded, and 1.10 keeps its zero. */

/** A number that JavaScript would change. */
export class ExactNumber {
  constructor(readonly text: string) {}
}

/** A string, or a number. Strings are matched so that numbers within them are not. */
const token = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
/** No text of a producer can contain it: the server sends no lone surrogates. */
const mark = '\uD800number:'

/** Like `JSON.parse`; numbers that would change are `ExactNumber`. */
export const exactNumbers = (text: string): unknown => {
  let some = false
  const marked = text.replace(token, (found) => {
    if (found.startsWith('"') || JSON.stringify(Number(found)) === found) return found
    some = true
    return `"\\ud800number:${found}"`
  })
  if (!some) return JSON.parse(text)
  return JSON.parse(marked, (_, value: unknown) => (typeof value === 'string' && value.startsWith(mark) ? new ExactNumber(value.slice(mark.length)) : value))
}

/** Like `JSON.stringify` with an indentation of two; `ExactNumber` as it was sent. */
export const exactText = (value: unknown, indent = ''): string => {
  if (value instanceof ExactNumber) return value.text
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const inner = `${indent}  `
  const lines = Array.isArray(value)
    ? value.map((each) => exactText(each, inner))
    : Object.entries(value).flatMap(([key, each]) => (each === undefined ? [] : [`${JSON.stringify(key)}: ${exactText(each, inner)}`]))
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  return lines.length === 0 ? `${open}${close}` : `${open}\n${lines.map((line) => `${inner}${line}`).join(',\n')}\n${indent}${close}`
}
