/**
 * Codecs of what goes through a queue, made of an io-ts codec or of a validator that implements Standard Schema (https://standardschema.dev), such as those of zod, valibot and
 * arktype. In the queue is JSON, and every check is made on JSON: it sees what the other side will see.
 */
import { type FieldError, fieldErrorsOf, type Json } from '@daybook/core/common'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { after } from './is-promise.js'

/** The part of an io-ts codec that its types are read from. */
export interface IoTsCodec {
  readonly _A: unknown
  readonly encode: (value: never) => unknown
  readonly decode: (value: never) => unknown
}

export type Schema = StandardSchemaV1 | IoTsCodec

/** What is given to be sent: the input of a validator; the decoded value of a codec, which encodes it. */
export type SentBy<S> = S extends StandardSchemaV1 ? StandardSchemaV1.InferInput<S> : S extends { readonly _A: infer A } ? A : never
/** What the other side gets: the output of a validator, the decoded value of a codec. */
export type ReceivedBy<S> = S extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<S> : S extends { readonly _A: infer A } ? A : never

/** A value, or the fields that are wrong. */
export type Checked<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly errors: ReadonlyArray<FieldError> }
/** Validators may take their time. */
type Later<T> = T | Promise<T>

export interface Codec<In, Out> {
  /** The JSON that is sent, if the other side will accept it; `undefined` for nothing. */
  readonly encode: (value: In) => Later<Checked<Json | undefined>>
  readonly decode: (json: Json | undefined) => Later<Checked<Out>>
}

/** `root`: what the value is called in errors. */
export const codecOf = <S extends Schema>(schema: S, root: string): Codec<SentBy<S>, ReceivedBy<S>> => {
  const coder: Coder = '~standard' in schema ? standard(schema, root) : ioTs(schema as IoTsCodec & IoTs, root)
  const decode = (json: unknown): Later<Checked<unknown>> => guarded(root, () => coder.check(json))
  const encode = (value: unknown): Later<Checked<Json | undefined>> =>
    guarded(root, () => {
      const json = asJson(coder.encode(value))
      return after(decode(json), (checked) => (checked.ok ? { ok: true as const, value: json } : checked))
    })
  return { encode, decode } as Codec<SentBy<S>, ReceivedBy<S>>
}

/** What nobody has described: any JSON. */
export const unchecked: Codec<Json | undefined, Json | undefined> = {
  encode: (value) => ({ ok: true, value }),
  decode: (value) => ({ ok: true, value }),
}

/** The fields that are wrong, in words. */
export const wordsOf = (errors: ReadonlyArray<FieldError>): string => errors.map(({ path, message }) => `${path}: ${message}`).join('; ')

interface Coder {
  readonly check: (json: unknown) => Later<Checked<unknown>>
  readonly encode: (value: unknown) => unknown
}

/** A validator has no way back from its output, so its input is sent, and is validated again on the other side. */
const standard = (schema: StandardSchemaV1, root: string): Coder => ({
  check: (json) =>
    after(schema['~standard'].validate(json), (result): Checked<unknown> =>
      result.issues === undefined ? { ok: true, value: result.value } : { ok: false, errors: result.issues.map(({ path, message }) => ({ path: pathOf(root, path), message })) },
    ),
  encode: (value) => value,
})

interface IoTs {
  readonly encode: (value: unknown) => unknown
  readonly decode: (value: unknown) => { readonly _tag: 'Left'; readonly left: Parameters<typeof fieldErrorsOf>[0] } | { readonly _tag: 'Right'; readonly right: unknown }
}

const ioTs = (codec: IoTs, root: string): Coder => ({
  check: (json) => {
    const decoded = codec.decode(json)
    return decoded._tag === 'Right' ? { ok: true, value: decoded.right } : { ok: false, errors: fieldErrorsOf(decoded.left, root) }
  },
  encode: codec.encode,
})

/** The value as the other side will read it. */
const asJson = (value: unknown): Json | undefined => {
  const text = JSON.stringify(value) as string | undefined
  return text === undefined ? undefined : (JSON.parse(text) as Json)
}

/** What a codec or validator throws is an error of the value, too: it was not made for it. */
const guarded = <T>(root: string, check: () => Later<Checked<T>>): Later<Checked<T>> => {
  const failed = (error: unknown): Checked<T> => ({ ok: false, errors: [{ path: root, message: error instanceof Error ? error.message : String(error) }] })
  try {
    const checked = check()
    return checked instanceof Promise ? checked.catch(failed) : checked
  } catch (error) {
    return failed(error)
  }
}

const pathOf = (root: string, path: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }> = []): string =>
  path.reduce<string>((at, segment) => {
    const key = typeof segment === 'object' ? segment.key : segment
    return typeof key === 'number' ? `${at}[${key}]` : `${at}.${String(key)}`
  }, root)
