/**
 * Replaces secrets in JSON by `[redacted]`: values under names of secrets, and texts in the shape of a secret, in keys, in values and within longer
 * texts. It is applied to what leaves its task: metadata of spawned tasks (TQM-BR-002), memories (TQM-MEM-001).
 *
 * Gotchas: a secret without a telling name or shape, such as a short password in the middle of a sentence, is not found.
 */
import { type Json, jsonDepthMax } from '../text/json.js'
import { isSecretName } from './secret-names.js'
import { redactedText, redactedIn } from './secret-shapes.js'

/**
 * The value without its secrets. Total: a part that is nested deeper than {@link jsonDepthMax} is replaced as a whole.
 *
 * Cost: O(size).
 *
 * @example
 * redacted({ apiKey: 'x', note: 'use Bearer abc123', tokenCount: 3 }) // => { apiKey: '[redacted]', note: 'use Bearer [redacted]', tokenCount: 3 }
 */
export const redacted = (value: Json): Json => within(value, 0)

const within = (value: Json, depth: number): Json => {
  if (typeof value === 'string') return redactedIn(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth >= jsonDepthMax) return redactedText
  if (isList(value)) return value.map((item) => within(item, depth + 1))
  const members: Array<readonly [string, Json]> = []
  const taken = new Map<string, number>()
  for (const [key, member] of Object.entries(value)) {
    // The parser of texts needs a name and its value in one text, so a key is examined twice: as a text, and as a name.
    const name = unique(redactedIn(key), taken)
    members.push([name, isSecretName(key) && isWorthHiding(key, member) ? redactedText : within(member, depth + 1)])
  }
  return Object.fromEntries(members)
}

const isList = (value: Json): value is ReadonlyArray<Json> => Array.isArray(value)

/** Null and booleans reveal nothing; `tokens: 512` is a count. */
const isWorthHiding = (key: string, value: Json): boolean =>
  value !== null && typeof value !== 'boolean' && value !== '' && !(typeof value === 'number' && /tokens$/i.test(key))

/** Two redacted keys must not become one. */
const unique = (name: string, taken: Map<string, number>): string => {
  let count = taken.get(name) ?? 0
  let found = name
  while (taken.has(found)) found = `${name} ${++count + 1}`
  taken.set(name, count)
  if (found !== name) taken.set(found, 0)
  return found
}
