/** What is a JSON value, and why something is not. JSON texts are in `json-text.ts`. */
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

/** Only objects made by literals and parsers are JSON. */
export const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

type Path = Array<string | number>

/** `undefined` for JSON. Properties that are `undefined` count as absent. */
export const whyNotJson = (value: unknown, start: string): NotJson | undefined => {
  const path: Path = []
  const reason = reasonIn(value, path)
  if (reason === undefined) return undefined
  return new NotJson(start + path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join(''), reason)
}

/** `path` leads to `value`; to the place where something is wrong, when it returns a reason. */
const reasonIn = (value: unknown, path: Path): string | undefined => {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return undefined
    case 'number':
      return Number.isFinite(value) ? undefined : `${value} is not a JSON number`
    case 'object':
      break
    default:
      return `${typeof value} is not a JSON value`
  }
  if (value === null) return undefined
  if (path.length >= jsonDepthMax) return `nested deeper than ${jsonDepthMax} levels`
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      path.push(i)
      const reason = reasonIn(value[i], path)
      if (reason !== undefined) return reason
      path.pop()
    }
    return undefined
  }
  if (!isPlain(value)) return 'only plain objects, arrays, strings, numbers, booleans and null are JSON'
  for (const key in value) {
    const member = (value as Record<string, unknown>)[key]
    if (member === undefined) continue
    path.push(key)
    const reason = reasonIn(member, path)
    if (reason !== undefined) return reason
    path.pop()
  }
  return undefined
}

const isJson = (value: unknown): value is Json => reasonIn(value, []) === undefined

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
