/** The text of a state, for people and for comparisons. Texts are equal if and only if the states are. */
import type { QueueState } from '@daybook/core'
import { contentsOf, textOfContents } from '@daybook/core/testing'

export const textOf = (state: QueueState): string => textOfContents(contentsOf(state))

/** The lines in which two texts of states differ, for people; empty if they are equal. */
export const differenceOf = (left: string, right: string): string => {
  const only = (sign: string, text: string, other: string): ReadonlyArray<string> => {
    const known = new Set(other.split('\n'))
    return text.split('\n').flatMap((line) => (known.has(line) ? [] : [`${sign} ${line.trim()}`]))
  }
  return left === right ? '' : [...only('-', left, right), ...only('+', right, left)].join('\n')
}
