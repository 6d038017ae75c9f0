/** JSON values, and the one canonical text of each (RFC 8785). */
import * as t from 'io-ts'

export type Json = null | boolean | number | string | ReadonlyArray<Json> | { readonly [key: string]: Json }

/** Deepest nesting that a payload may have. */
export const jsonDepthMax = 64

/** Why a value is not JSON, and where: `path` is like `payload.params[3]`. */
export class NotJson extends Error {
  override readonly name = 'NotJson'
  constructor(
    readonly path: string,
    message: string,
  ) {
    super(message)
  }
}

/**
 * The canonical JSON text of a value: RFC 8785 (keys sorted by UTF-16 code units, numbers as ECMAScript
 * prints them, no white space).
 *
 * Gotchas: properties that are `undefined` are left out, as `JSON.stringify` does.
 *
 * @throws NotJson for NaN, infinities, bigint, functions, cycles or nesting beyond {@link jsonDepthMax}.
 * @example
 * canonicalJson({ b: [1, true], a: 'x' }) // => '{"a":"x","b":[1,true]}'
 */
export const canonicalJson = (value: unknown, path = 'payload'): string =>
  isCanonical(value, path, 0) ? JSON.stringify(value) : print(value)

/**
 * Checks that `value` is JSON, and says whether `JSON.stringify` prints it canonically as it stands: most
 * values that machines send have sorted or few keys, and the native printer is several times faster.
 */
const isCanonical = (value: unknown, path: string, depth: number): boolean => {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return true
    case 'number':
      if (!Number.isFinite(value)) throw new NotJson(path, `${value} is not a JSON number`)
      return true
    case 'object':
      break
    default:
      throw new NotJson(path, `${typeof value} is not a JSON value`)
  }
  if (value === null) return true
  if (depth >= jsonDepthMax) throw new NotJson(path, `nested deeper than ${jsonDepthMax} levels`)
  let sorted = true
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      if (!isCanonical(value[i], `${path}[${i}]`, depth + 1)) sorted = false
    }
    return sorted
  }
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) {
    throw new NotJson(path, 'only plain objects, arrays, strings, numbers, booleans and null are JSON')
  }
  let previous = ''
  for (const key in value) {
    // Integer-like keys are listed first by the engine, whatever the order of the rest: print by hand.
    if (key <= previous && previous !== '') sorted = false
    const first = key.charCodeAt(0)
    if (first >= 48 && first <= 57) sorted = false
    previous = key
    const member = (value as Record<string, unknown>)[key]
    if (member !== undefined && !isCanonical(member, `${path}.${key}`, depth + 1)) sorted = false
  }
  return sorted
}

const print = (value: unknown): string => {
  const sorted = withSortedKeys(value)
  return sorted === undefined ? printByHand(value) : JSON.stringify(sorted)
}

/** A copy whose keys are in order, for the native printer; `undefined` if some key would not stay in its place. */
const withSortedKeys = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const copies = new Array<unknown>(value.length)
    for (let i = 0; i < value.length; i++) {
      const copy = withSortedKeys(value[i])
      if (copy === undefined) return undefined
      copies[i] = copy
    }
    return copies
  }
  const members = value as Record<string, unknown>
  const sorted: Record<string, unknown> = {}
  for (const key of sortedKeys(members)) {
    const member = members[key]
    if (member === undefined) continue
    // Integer-like keys would be listed first, and `__proto__` would not become a key at all.
    const first = key.charCodeAt(0)
    if ((first >= 48 && first <= 57) || key === '__proto__') return undefined
    const copy = withSortedKeys(member)
    if (copy === undefined) return undefined
    sorted[key] = copy
  }
  return sorted
}

/** By UTF-16 code units. Objects have few keys: inserting each in its place is quicker than a general sort. */
const sortedKeys = (members: Record<string, unknown>): ReadonlyArray<string> => {
  const keys = Object.keys(members)
  if (keys.length > 16) return keys.sort()
  for (let i = 1; i < keys.length; i++) {
    const key = keys[i] as string
    let at = i
    for (; at > 0 && (keys[at - 1] as string) > key; at--) keys[at] = keys[at - 1] as string
    keys[at] = key
  }
  return keys
}

const printByHand = (value: unknown): string => {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(printByHand).join(',')}]`
  const members = value as Record<string, unknown>
  return `{${Object.keys(members)
    .filter((key) => members[key] !== undefined)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${printByHand(members[key])}`)
    .join(',')}}`
}

const isJson = (value: unknown): value is Json => {
  try {
    isCanonical(value, '', 0)
    return true
  } catch (error) {
    if (error instanceof NotJson) return false
    throw error
  }
}

/** Any JSON value. */
export const Json: t.Type<Json> = new t.Type<Json>(
  'JSON value',
  isJson,
  (input, context) => (isJson(input) ? t.success(input) : t.failure(input, context)),
  t.identity,
)

/** A JSON object. */
export const JsonObject = t.refinement(
  Json,
  (value): value is { readonly [key: string]: Json } =>
    typeof value === 'object' && value !== null && !Array.isArray(value),
  'JSON object',
)
export type JsonObject = t.TypeOf<typeof JsonObject>
