/**
 * The facts of the commonest events, which are nearly all of a log, read off the texts that `encodeData` makes of them: less than
 * half the cost of parsing and checking. `undefined` for every other text; parser and codec are for those.
 */
import type { DataOf } from '@daybook/core'

/** What the codecs take for a name, as far as it stands in a text without escapes; `but` these characters. */
const nameBut = (but: string): string => `[^${but}"\\\\\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029\\ud800-\\udfff]{1,128}`
const name = nameBut('')
const task = `^\\{"task":"(?!#)(${name})"`
const start = `${task},"agent":"(${name})","token":([1-9]\\d{0,14})`
const claimed = new RegExp(`${start},"expiresAt":([1-9]\\d{0,13})\\}$`)
const completed = new RegExp(`${start},"content":`)
const enqueued = new RegExp(
  `${task},"number":([1-9]\\d{0,14}),"type":"(${nameBut('*')})","priority":([1-9]|10),"idempotencyKey":"(${name})",` +
    '"timeout":([1-9]\\d{0,7}),"maxRetries":(0|[1-9]\\d{0,14}),"backoffSeconds":(0|[1-9]\\d{0,7})(?:\\}$|,"content":)',
)

type Facts = DataOf<'TaskEnqueued'> | DataOf<'Claimed'> | DataOf<'Completed'>

/** Of an event of this type in the version that is written now. Of claims and completions, the task's id shares memory with the text. */
export const readFacts = (type: string, data: string): Facts | undefined => {
  switch (type) {
    case 'TaskEnqueued': {
      const found = enqueued.exec(data)
      if (found === null) return undefined
      const [, task = '', number, type = '', priority, key = '', timeout, maxRetries, backoffSeconds] = found
      return {
        task: own(task),
        number: Number(number),
        type: keptType(type),
        priority: Number(priority),
        idempotencyKey: own(key),
        timeout: Number(timeout),
        maxRetries: Number(maxRetries),
        backoffSeconds: Number(backoffSeconds),
      }
    }
    case 'Claimed': {
      const found = claimed.exec(data)
      if (found === null) return undefined
      const [, task = '', agent = '', token, expiresAt] = found
      return { task, agent: keptAgent(agent), token: Number(token), expiresAt: Number(expiresAt) }
    }
    case 'Completed': {
      const found = completed.exec(data)
      if (found === null) return undefined
      const [, task = '', agent = '', token] = found
      return { task, agent: keptAgent(agent), token: Number(token) }
    }
    default:
      return undefined
  }
}

/** A text of its own for what is kept in the state: what is cut out of a page would keep all of the page. */
const own = (text: string): string => [text.slice(0, 1), text.slice(1)].join('')

/** The same for a name that many events share. */
const shared = (): ((name: string) => string) => {
  let last = ''
  return (name) => (name === last ? last : (last = own(name)))
}
const keptType = shared()
const keptAgent = shared()
