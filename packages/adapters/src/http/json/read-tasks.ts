/**
 * A fast reader for bodies of many tasks. Most of such a body is payloads, and the engine needs them as canonical text. Payloads that are already
 * canonical are cut out as text, and only the rest is parsed.
 */
import { isAscii } from 'node:buffer'
import { CanonicalText } from '@daybook/core'
import { canonicalEnd, keyEnd, stands } from './canonical-end.js'
import { closeBrace, closeBracket, comma, openBrace, openBracket } from './json-bytes.js'

/** Start and end offset of each task's payload; both 0 if it has none. */
type Spans = Array<number>

/**
 * Like `JSON.parse`, but payloads are {@link CanonicalText}. It reads only tasks in JSON without white space whose members are all canonical. For
 * anything else it returns `undefined`, and the caller uses the parser.
 *
 * Gotchas: assumes that the bytes are valid UTF-8; the caller checks that.
 */
export const readTasks = (bytes: Buffer): unknown => {
  const payloads: Spans = []
  let hasTasks = false
  const end = membersEnd(bytes, 0, (key, at) => {
    if (!stands(bytes, key, '"tasks"')) return canonicalEnd(bytes, at)
    if (hasTasks) return -1
    hasTasks = true
    return tasksEnd(bytes, at, payloads)
  })
  if (end !== bytes.length || !hasTasks) return undefined
  const body = JSON.parse(withoutPayloads(bytes, payloads)) as { readonly tasks: ReadonlyArray<{ payload: unknown }> }
  const encoding = isAscii(bytes) ? 'latin1' : 'utf8'
  body.tasks.forEach((task, i) => {
    const [from = 0, to = 0] = [payloads[2 * i], payloads[2 * i + 1]]
    if (to > 0) task.payload = new CanonicalText(bytes.toString(encoding, from, to))
  })
  return body
}

/** Offset just after the object that begins at `start`; −1 if there is none, or if `valueEnd` returns −1 for a member. */
const membersEnd = (bytes: Buffer, start: number, valueEnd: (key: number, value: number) => number): number => {
  if (bytes[start] !== openBrace) return -1
  if (bytes[start + 1] === closeBrace) return start + 2
  for (let at = start + 1; ; at++) {
    const end = keyEnd(bytes, at)
    if (end < 0) return -1
    at = valueEnd(at, end + 2)
    if (at < 0) return -1
    if (bytes[at] === closeBrace) return at + 1
    if (bytes[at] !== comma) return -1
  }
}

const tasksEnd = (bytes: Buffer, start: number, payloads: Spans): number => {
  if (bytes[start] !== openBracket) return -1
  if (bytes[start + 1] === closeBracket) return start + 2
  for (let at = start + 1; ; at++) {
    let [from, to] = [0, 0]
    at = membersEnd(bytes, at, (key, value) => {
      if (!stands(bytes, key, '"payload"')) return canonicalEnd(bytes, value)
      // A repeated member is left to the parser, which takes the last one.
      if (to > 0) return -1
      from = value
      return (to = canonicalEnd(bytes, value))
    })
    if (at < 0) return -1
    payloads.push(from, to)
    if (bytes[at] === closeBracket) return at + 1
    if (bytes[at] !== comma) return -1
  }
}

const none = 'null'

/** The text with `null` for each payload. */
const withoutPayloads = (bytes: Buffer, payloads: Spans): string => {
  // A payload has at least one byte, so `null` adds at most three bytes per payload.
  const rest = Buffer.allocUnsafe(bytes.length + 3 * payloads.length)
  let length = 0
  let copied = 0
  for (let i = 0; i < payloads.length; i += 2) {
    const [from = 0, to = 0] = [payloads[i], payloads[i + 1]]
    if (to === 0) continue
    length += bytes.copy(rest, length, copied, from)
    for (let i = 0; i < 4; i++) rest[length++] = none.charCodeAt(i)
    copied = to
  }
  length += bytes.copy(rest, length, copied)
  return rest.toString('utf8', 0, length)
}
