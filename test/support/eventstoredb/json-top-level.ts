/**
 * The top level of a JSON object, with each value as text, because JSON.parse would round the 64-bit integers in the server's fields. If a name
 * occurs several times, the last one counts.
 */
const name = /\s*"((?:[^"\\]|\\.)*)"\s*:\s*/y
const scalar = /"(?:[^"\\]|\\.)*"|[^\s,{}[\]"]+/y
const between = /\s*([,}])/y
const token = /"(?:[^"\\]|\\.)*"|[{}[\]]|[^"{}[\]]+/y

const match = (pattern: RegExp, text: string, at: number): RegExpExecArray => {
  pattern.lastIndex = at
  const found = pattern.exec(text)
  if (found === null) throw new SyntaxError(`unexpected at ${at}`)
  return found
}

const nestedEnd = (text: string, start: number): number => {
  let depth = 0
  let at = start
  do {
    const found = match(token, text, at)[0]
    if (found === '{' || found === '[') depth += 1
    if (found === '}' || found === ']') depth -= 1
    at += found.length
  } while (depth > 0)
  return at
}

export const topLevel = (text: string): ReadonlyMap<string, string> => {
  const fields = new Map<string, string>()
  JSON.parse(text)
  let at = match(/\s*\{/y, text, 0)[0].length
  if (/^\s*\}/.test(text.slice(at))) return fields
  for (;;) {
    const key = match(name, text, at)
    at += key[0].length
    const nested = text[at] === '{' || text[at] === '['
    const end = nested ? nestedEnd(text, at) : at + match(scalar, text, at)[0].length
    fields.set(JSON.parse(`"${String(key[1])}"`) as string, text.slice(at, end))
    const next = match(between, text, end)
    at = end + next[0].length
    if (next[1] === '}') return fields
  }
}
