/**
 * A fast reader for the most common events, which are nearly all of a log. It matches the texts that `encodeData` writes, at less than half the cost
 * of parsing and checking. It returns `undefined` for every other text, for which parser and codec are used.
 */
import { type DataOf, type Phase, phases } from '@daybook/core'

/** A pattern for names that the codecs accept and that have no escapes, without the characters in `but`. */
const nameBut = (but: string): string => `[^${but}"\\\\\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029\\ud800-\\udfff]{1,128}`
const name = nameBut('')
const task = `^\\{"task":"(?!#)(${name})"`
const start = `${task},"agent":"(${name})","token":([1-9]\\d{0,14})`
const claimed = new RegExp(`${start},"expiresAt":([1-9]\\d{0,13})\\}$`)
const completed = new RegExp(`${start},"content":`)
const enqueued = new RegExp(
  `${task},"number":([1-9]\\d{0,14}),"type":"(${nameBut('*')})","priority":([1-9]|10),"idempotencyKey":"(${name})",` +
    '"timeout":([1-9]\\d{0,7}),"maxRetries":(0|[1-9]\\d{0,14}),"backoffSeconds":(0|[1-9]\\d{0,7})' +
    `(?:,"deadlineAt":([1-9]\\d{0,13}))?(?:,"phase":"(${phases.join('|')})")?(?:,"tenant":"(${name})")?(?:\\}$|,"content":)`,
)

/** The constants themselves: a matched text is a substring, which would keep the whole page in memory. */
const phaseNamed: ReadonlyMap<string, Phase> = new Map(phases.map((phase) => [phase, phase]))

type Facts = DataOf<'TaskEnqueued'> | DataOf<'Claimed'> | DataOf<'Completed'>

/** Reads an event of this type in its current version. The task id of claims and completions shares memory with the text. */
export const readFacts = (type: string, data: string): Facts | undefined => {
  switch (type) {
    case 'TaskEnqueued': {
      const found = enqueued.exec(data)
      if (found === null) return undefined
      const [, task = '', number, type = '', priority, key = '', timeout, maxRetries, backoffSeconds, deadlineAt, phase, tenant] = found
      const facts: { -readonly [K in keyof DataOf<'TaskEnqueued'>]: DataOf<'TaskEnqueued'>[K] } = {
        task: own(task),
        number: Number(number),
        type: keptType(type),
        priority: Number(priority),
        idempotencyKey: own(key),
        timeout: Number(timeout),
        maxRetries: Number(maxRetries),
        backoffSeconds: Number(backoffSeconds),
      }
      // Assigned one by one, because spreading would double the cost.
      if (deadlineAt !== undefined) facts.deadlineAt = Number(deadlineAt)
      if (phase !== undefined) facts.phase = phaseNamed.get(phase) as Phase
      if (tenant !== undefined) facts.tenant = keptTenant(tenant)
      return facts
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

/** Copies a string that is kept in the state: a substring would keep the whole page in memory. */
export const own = (text: string): string => [text.slice(0, 1), text.slice(1)].join('')

/** The largest number of names in the cache. Beyond it, the cache is cleared. */
const sharedMax = 4_096

/** Like `own`, with a cache: a name that many events share is one string for all of them. */
const shared = (): ((name: string) => string) => {
  let last = ''
  const known = new Map<string, string>()
  return (name) => {
    if (name === last) return last
    const kept = known.get(name)
    if (kept !== undefined) return (last = kept)
    if (known.size >= sharedMax) known.clear()
    last = own(name)
    known.set(last, last)
    return last
  }
}
const keptType = shared()
const keptTenant = shared()
const keptAgent = shared()
/** The name of an actor. */
export const keptName = shared()
