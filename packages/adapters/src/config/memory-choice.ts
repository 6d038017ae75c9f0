/** `memory:` in the config file. */
import * as E from 'fp-ts/lib/Either.js'
import { type MemoryChoice, memoryDefault } from './serve-options.js'
import { isObject } from '../is-object.js'
import type { Problems } from './settings-file.js'
import { whyNoWebAddress } from './web-address.js'

const keysOf = { sqlite: ['kind', 'recallMs', 'limit'], http: ['kind', 'url', 'timeoutSeconds', 'recallMs', 'limit'], off: ['kind'] } as const

/** `off`, or an object with `kind: sqlite`, `http` or `off`. Default: `sqlite`. The token of an HTTP memory comes from the environment, not from the file. */
export const readMemory = (value: unknown, token: string | undefined, name: string): E.Either<Problems, MemoryChoice> => {
  if (value === undefined || value === null) return E.right(memoryDefault)
  if (value === 'off' || value === false) return E.right({ kind: 'off' })
  const kind = isObject(value) ? value.kind : undefined
  if (!isObject(value) || (kind !== 'sqlite' && kind !== 'http' && kind !== 'off' && kind !== false)) {
    return E.left([`${name}: memory must be off, or have a kind: sqlite, http or off`])
  }
  if (kind === false || kind === 'off') return E.right({ kind: 'off' })
  const problems: Array<string> = Object.keys(value)
    .filter((key) => !(keysOf[kind] as ReadonlyArray<string>).includes(key))
    .map((key) => `${name}: memory.${key} is not known for ${kind}; known: ${keysOf[kind].join(', ')}`)
  const numberAt = (key: string, min: number, max: number, byDefault: number): number => {
    const given = value[key] ?? byDefault
    if (typeof given === 'number' && given >= min && given <= max) return given
    problems.push(`${name}: memory.${key} must be a number from ${min} to ${max}`)
    return byDefault
  }
  const common = { recallMs: numberAt('recallMs', 1, 5_000, defaults.recallMs), limit: Math.floor(numberAt('limit', 1, 50, defaults.limit)) }
  if (kind === 'sqlite') return problems.length > 0 ? E.left(problems) : E.right({ kind, ...common })
  const { url } = value
  const timeoutMs = numberAt('timeoutSeconds', 0.1, 300, 10) * 1_000
  const why = whyNoWebAddress(typeof url === 'string' ? url : '')
  if (why !== undefined) problems.push(`${name}: memory.url ${why}`)
  if (problems.length > 0) return E.left(problems)
  return E.right({ kind, url: String(url).replace(/\/$/, ''), timeoutMs, ...common, ...(token === undefined ? {} : { token }) })
}

const defaults = { recallMs: memoryDefault.recallMs, limit: memoryDefault.limit }
