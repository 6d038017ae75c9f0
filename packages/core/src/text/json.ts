/**
 * What a JSON value is, and why a value is not JSON. JSON texts are in `json-text.ts`.
 *
 * An accepted value means the same to every reader: no number is rounded by readers, and every text has a UTF-8 form (RFC 8785, RFC 7493).
 */
import * as t from 'io-ts'

export type Json = null | boolean | number | string | ReadonlyArray<Json> | { readonly [key: string]: Json }

/** The greatest depth of a payload. */
export const jsonDepthMax = 64

/** A value is not JSON. The message says why, and `path` where: `payload.params[3]`. */
export class NotJson extends Error {
  override readonly name = 'NotJson'
  constructor(
    readonly path: string,
    message: string,
  ) {
    super(message)
  }
}

/** The canonical text of a value is longer than its caller takes. */
export class LongJson extends Error {
  override readonly name = 'LongJson'
}

/** Whether the object was made by a literal or a parser. Only such objects are JSON. */
export const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/**
 * Whether every reader of the canonical text gets the same number. Beyond ±(2^53 − 1) several integers are the same double (RFC 7493, 2.2). From
 * 10^21 on numbers are printed with an exponent and count as measurements.
 */
export const isExactNumber = (value: number): boolean =>
  (value <= Number.MAX_SAFE_INTEGER && value >= Number.MIN_SAFE_INTEGER) || (Math.abs(value) >= 1e21 && Number.isFinite(value))

type Path = Array<string | number>

/** Why the value is not JSON; `undefined` if it is. A property that is `undefined` counts as absent. */
export const whyNotJson = (value: unknown, start: string): NotJson | undefined => {
  const path: Path = []
  const reason = reasonIn(value, path, strictly)
  if (reason === undefined) return undefined
  const place = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('')
  // The path must be readable, so it must not have lone surrogates either.
  return new NotJson(start + place.toWellFormed(), reason)
}

/** The rules for texts and numbers. Each returns the reason for a refusal. */
interface Leaves {
  readonly text: (value: string) => string | undefined
  readonly number: (value: number) => string | undefined
}

const notFinite = (value: number): string | undefined =>
  Number.isFinite(value) ? undefined : Number.isNaN(value) ? 'is NaN, which is not a JSON number' : inexact
/** An infinite number also represents a number whose text is not exact. */
const inexact = 'is more than a JSON number holds exactly (whole numbers up to ±9007199254740991, others of 17 digits): send it as text'

const strictly: Leaves = {
  text: (value) => (value.isWellFormed() ? undefined : 'holds half of a surrogate pair, which is no Unicode text'),
  number: (value) =>
    notFinite(value) ?? (isExactNumber(value) ? undefined : inexact),
}
/** The weaker rules for recorded values. */
const asRecorded: Leaves = { text: () => undefined, number: notFinite }

/** Why the value is not JSON; `undefined` if it is. `path` is that of `value`; with a reason, it becomes that of the invalid part. */
const reasonIn = (value: unknown, path: Path, leaves: Leaves): string | undefined => {
  switch (typeof value) {
    case 'string':
      return leaves.text(value)
    case 'boolean':
      return undefined
    case 'number':
      return leaves.number(value)
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
      const reason = reasonIn(value[i], path, leaves)
      if (reason !== undefined) return reason
      path.pop()
    }
    return undefined
  }
  if (!isPlain(value)) return 'only plain objects, arrays, strings, numbers, booleans and null are JSON'
  for (const key in value) {
    const member = (value as Record<string, unknown>)[key]
    path.push(key)
    const reason = leaves.text(key) ?? (member === undefined ? undefined : reasonIn(member, path, leaves))
    if (reason !== undefined) return reason
    path.pop()
  }
  return undefined
}

const jsonType = (leaves: Leaves): t.Type<Json> => {
  const isJson = (value: unknown): value is Json => reasonIn(value, [], leaves) === undefined
  return new t.Type<Json>('JSON value', isJson, (input, context) => (isJson(input) ? t.success(input) : t.failure(input, context)), t.identity)
}

/** Any JSON value. */
export const Json: t.Type<Json> = jsonType(strictly)
/** JSON as it may have been recorded by earlier versions. */
export const RecordedJson: t.Type<Json> = jsonType(asRecorded)

const isObject = (value: Json): value is { readonly [key: string]: Json } => typeof value === 'object' && value !== null && !Array.isArray(value)
/** A JSON object. */
export const JsonObject = t.refinement(Json, isObject, 'JSON object')
/** A JSON object as it may have been recorded by earlier versions. */
export const RecordedObject = t.refinement(RecordedJson, isObject, 'JSON object')
export type JsonObject = t.TypeOf<typeof JsonObject>
