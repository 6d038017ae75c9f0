/**
 * The facts of claims and completions, which are most of the log of a queue that is worked off, read off the texts that `encodeData` makes of
 * them: half the cost of parsing and checking. `undefined` for every other text; parser and codec are for those.
 */
import type { DataOf } from '@daybook/core'

/** What the codecs take for a name, as far as it stands in a text without escapes. */
const name = '[^"\\\\\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029\\ud800-\\udfff]{1,128}'
const start = `^\\{"task":"(?!#)(${name})","agent":"(${name})","token":([1-9]\\d{0,14})`
const claimed = new RegExp(`${start},"expiresAt":([1-9]\\d{0,13})\\}$`)
const completed = new RegExp(`${start},"content":`)

/** Of an event of this type in the version that is written now. The task's id shares memory with the text. */
export const readFacts = (type: string, data: string): DataOf<'Claimed'> | DataOf<'Completed'> | undefined => {
  switch (type) {
    case 'Claimed': {
      const found = claimed.exec(data)
      if (found === null) return undefined
      const [, task, agent, token, expiresAt] = found as unknown as readonly [string, string, string, string, string]
      return { task, agent: kept(agent), token: Number(token), expiresAt: Number(expiresAt) }
    }
    case 'Completed': {
      const found = completed.exec(data)
      if (found === null) return undefined
      const [, task, agent, token] = found as unknown as readonly [string, string, string, string]
      return { task, agent: kept(agent), token: Number(token) }
    }
    default:
      return undefined
  }
}

let last = ''

/** A name that is kept in the state, as a text of its own: what is cut out of a page would keep all of the page. */
const kept = (agent: string): string => {
  if (agent !== last) last = JSON.parse(`"${agent}"`) as string
  return last
}
