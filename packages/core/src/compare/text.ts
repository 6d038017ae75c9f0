/** The text of a state, for people and for comparisons. Texts are equal if and only if the states are (see `contents.ts`). */
import type { QueueState } from '../fold/queue-state.js'
import { type Contents, contentsOf, sign } from './contents.js'

export const textOf = (state: QueueState): string => textOfContents(contentsOf(state))

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

/** The lines in which two texts of states differ, for people; empty if they are equal. */
export const differenceOf = (left: string, right: string): string => {
  const only = (sign: string, text: string, other: string): ReadonlyArray<string> => {
    const known = new Set(other.split('\n'))
    return text.split('\n').flatMap((line) => (known.has(line) ? [] : [`${sign} ${line.trim()}`]))
  }
  return left === right ? '' : [...only('-', left, right), ...only('+', right, left)].join('\n')
}
