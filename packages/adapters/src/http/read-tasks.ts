/**
 * The quick way to read a body of many tasks. Payloads are most of it, and are wanted as canonical text in the
 * end: those that came as such are cut out, and only what is left is parsed.
 */
import { isAscii } from 'node:buffer'
import { CanonicalText } from '@daybook/core'
import { canonicalEnd, keyEnd, stands } from './canonical-end.js'

const openBrace = 0x7b
const closeBrace = 0x7d
const comma = 0x2c
const openBracket = 0x5b
const closeBracket = 0x5d

/** The payload of each task: its start and its end; both 0 where there is none. */
type Spans = Array<number>

/**
 * What `JSON.parse` makes of the bytes, but for payloads, which are {@link CanonicalText}. `undefined` for anything
 * but tasks in JSON without white space, all of whose members are canonical: that is for the parser.
 *
 * Gotchas: takes the bytes for UTF-8; whether they are is for the caller to check.
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

/** Offset behind the object that begins at `start`; −1 if it is none, or `valueEnd` says so of a member. */
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
      // Of two members with one name the last counts: that is for the parser.
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
  // No payload is shorter than one digit.
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
