/** The text of contents, for people and for comparisons. Texts are equal if and only if the contents are. */
import { type Contents, sign } from './contents.js'

export const textOfContents = (contents: Contents): string => {
  let text = ''
  let space = ''
  for (let i = 0; i < contents.length; i++) {
    const part = contents[i]
    if (part === sign.table) text += `\n${String(contents[++i])}:`
    else if (part === sign.line) text += '\n '
    else if (part === sign.field) text += ` ${String(contents[++i])}=`
    else if (names.has(part)) text += `${space}${partText(part)}${String(contents[++i])}`
    else text += space + partText(part)
    space = part === sign.field ? '' : ' '
  }
  return text.trimStart()
}

const names: ReadonlySet<unknown> = new Set([sign.task, sign.group, sign.share, sign.breaker])

const partText = (part: unknown): string => {
  if (typeof part === 'symbol') return part.description ?? ''
  return Object.is(part, -0) ? '-0' : (JSON.stringify(part) ?? 'undefined')
}
