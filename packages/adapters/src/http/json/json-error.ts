/** Finds the position of a JSON syntax error. `JSON.parse` does not report it reliably, and people who write JSON by hand need it. */

type Expected = 'value' | 'value or ]' | 'key' | 'key or }' | ':' | ', or end'

/**
 * Offset of the first unexpected character; the text's length if the text ends too soon or is valid JSON.
 * One pass without recursion, so any depth is safe.
 */
export const jsonErrorAt = (text: string): number => {
  /** Open brackets, innermost last. */
  const open: Array<'{' | '['> = []
  let expected: Expected = 'value'
  for (let at = skipSpace(text, 0); at < text.length; at = skipSpace(text, at)) {
    const sign = text[at] as string
    const inside = open[open.length - 1]
    if (expected === ':') {
      if (sign !== ':') return at
      expected = 'value'
      at++
    } else if (expected === ', or end' && sign === ',' && inside !== undefined) {
      expected = inside === '{' ? 'key' : 'value'
      at++
    } else if ((sign === '}' && inside === '{') || (sign === ']' && inside === '[')) {
      if (expected !== ', or end' && !expected.endsWith(sign)) return at
      open.pop()
      expected = ', or end'
      at++
    } else if (expected === 'key' || expected === 'key or }') {
      const end = sign === '"' ? endOfString(text, at) : { at, isWhole: false }
      if (!end.isWhole) return end.at
      expected = ':'
      at = end.at
    } else if (expected === ', or end') {
      return at
    } else if (sign === '{' || sign === '[') {
      open.push(sign)
      expected = sign === '{' ? 'key or }' : 'value or ]'
      at++
    } else {
      const end = sign === '"' ? endOfString(text, at) : endOfWord(text, at)
      if (!end.isWhole) return end.at
      expected = ', or end'
      at = end.at
    }
  }
  return text.length
}

const space = ' \t\n\r'
const skipSpace = (text: string, from: number): number => {
  let at = from
  while (at < text.length && space.includes(text[at] as string)) at++
  return at
}

interface End {
  /** Offset just after the token, or of the error if the token is incomplete. */
  readonly at: number
  readonly isWhole: boolean
}

const endOfString = (text: string, start: number): End => {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 34) return { at: at + 1, isWhole: true }
    if (code < 32) return { at, isWhole: false }
    if (code !== 92) continue
    at++
    const escaped = text[at]
    if (escaped === 'u' && /^[0-9A-Fa-f]{4}$/.test(text.slice(at + 1, at + 5))) at += 4
    else if (escaped === undefined || !'"\\/bfnrt'.includes(escaped)) return { at: Math.min(at, text.length), isWhole: false }
  }
  return { at: text.length, isWhole: false }
}

const endOfWord = (text: string, start: number): End => {
  const word = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
  word.lastIndex = start
  return word.test(text) ? { at: word.lastIndex, isWhole: true } : { at: start, isWhole: false }
}

/** `line 3, column 7`, both counted from 1. */
export const placeOf = (text: string, at: number): string => {
  const before = text.slice(0, at)
  return `line ${before.split('\n').length}, column ${at - before.lastIndexOf('\n')}`
}
