/** Decodes input from outside. Every wrong field is named by its path, and unknown fields are refused. */
import * as E from 'fp-ts/lib/Either.js'
import type * as t from 'io-ts'
import { isPlain, Json, JsonObject, whyNotJson } from '../text/json.js'
import type { FieldError } from './rejections.js'

/**
 * Decodes `input`, or names each invalid field.
 *
 * Unknown fields are invalid, too: if a misspelt `prioritty` were dropped silently, the task would run too late.
 * Well-formed input is only checked, with `codec.is`, and returned as it is.
 */
export const validate =
  <A>(codec: t.Type<A, unknown>, root = '') =>
  (input: unknown): E.Either<ReadonlyArray<FieldError>, A> => {
    const unknown: Array<FieldError> = []
    if (!codec.is(input)) {
      const decoded = codec.decode(input)
      if (E.isRight(decoded)) return E.right(decoded.right)
      findUnseen(codec, input, root, unknown)
      return E.left([...fieldErrorsOf(decoded.left, root), ...unknown])
    }
    findUnseen(codec, input, root, unknown)
    return unknown.length > 0 ? E.left(unknown) : E.right(input)
  }

/** What io-ts says of a value, as fields with their paths. It has nothing to say about unknown fields. */
export const fieldErrorsOf = (errors: t.Errors, root = ''): ReadonlyArray<FieldError> => distinct(errors.map((error) => fieldError(error, root)))

const fieldError = (error: t.ValidationError, root: string): FieldError => {
  const { context, value } = error
  let path = root
  for (let i = 1; i < context.length; i++) {
    const entry = context[i] as t.ContextEntry
    const parent = context[i - 1] as t.ContextEntry
    // A member of an intersection or union is an entry of the context, but not a step into the value.
    if (isChoice(parent.type)) continue
    path = step(path, entry.key, isList(parent.type))
  }
  // The expected type is the whole union, not the one member that this error is about.
  let at = context.length - 1
  while (at > 0 && isChoice((context[at - 1] as t.ContextEntry).type)) at--
  const { type } = context[at] as t.ContextEntry
  // For JSON values the exact path is found, because people need it.
  const why = (type === Json || type === JsonObject) && value !== undefined ? whyNotJson(value, path) : undefined
  if (why !== undefined) return { path: why.path, message: why.message }
  const wanted = expected(type)
  return {
    path: path === '' ? '(body)' : path,
    message: error.message ?? (value === undefined ? `is required: ${wanted}` : `must be ${wanted}, not ${show(value)}`),
  }
}

/** What a codec accepts, in words that follow *must be*. */
const expected = (codec: t.Decoder<unknown, unknown>): string => {
  const { _tag, types = [], keys = {}, value } = node(codec as t.Mixed)
  switch (_tag) {
    case 'StringType':
      return 'a text'
    case 'BooleanType':
      return 'true or false'
    case 'NullType':
      return 'null'
    case 'UnknownType':
      return 'any JSON'
    case 'LiteralType':
      return JSON.stringify(value)
    case 'KeyofType':
      return `one of ${Object.keys(keys).join(', ')}`
    case 'ArrayType':
    case 'ReadonlyArrayType':
      return 'a list'
    case 'UnionType':
      return types.map(expected).join(' or ')
    case 'InterfaceType':
    case 'PartialType':
    case 'ExactType':
    case 'IntersectionType':
    case 'DictionaryType':
      return 'an object'
    default:
      return withArticle(codec.name.replace(/^([^:]+): (.+)$/, '$1 ($2)'))
  }
}

/** `a task id`, but `1–128 printable characters` and `at most 256 task ids`. */
const withArticle = (name: string): string =>
  /^(\d|at most |milliseconds)/.test(name) ? name : `${/^[aeiou]/.test(name) ? 'an' : 'a'} ${name}`

const step = (path: string, key: string, list: boolean): string =>
  list ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`

/** Objects and lists are not printed: they may be of any size and depth. */
const show = (value: unknown): string => {
  switch (typeof value) {
    case 'string': {
      const text = JSON.stringify(value.slice(0, 57))
      return value.length > 57 ? `${text.slice(0, -1)}…"` : text
    }
    case 'object':
      return value === null ? 'null' : Array.isArray(value) ? (value.length === 0 ? 'an empty list' : `a list of ${value.length}`) : 'an object'
    default:
      return Object.is(value, -0) ? '-0' : String(value)
  }
}

const separator = /[.[]/

const distinct = (errors: ReadonlyArray<FieldError>): ReadonlyArray<FieldError> => {
  const seen = new Map<string, FieldError>()
  for (const error of errors) if (!seen.has(error.path)) seen.set(error.path, error)
  // One member of a union may report a field of an object, and another that the object should be null. The deeper path is reported.
  const above = new Set<string>()
  for (const path of seen.keys()) {
    for (let at = path.search(separator); at > 0; ) {
      above.add(path.slice(0, at))
      const next = path.slice(at + 1).search(separator)
      at = next < 0 ? -1 : at + 1 + next
    }
  }
  return [...seen.values()].filter(({ path }) => !above.has(path))
}

/** The part of io-ts's type classes that is used here. */
interface Node {
  readonly _tag?: string
  readonly props?: Readonly<Record<string, t.Mixed>>
  readonly type?: t.Mixed
  readonly domain?: t.Mixed
  readonly codomain?: t.Mixed
  readonly types?: ReadonlyArray<t.Mixed>
  readonly keys?: Readonly<Record<string, unknown>>
  readonly value?: unknown
}
const node = (codec: t.Mixed): Node => codec as Node

const isChoice = (codec: t.Decoder<unknown, unknown>): boolean => {
  const tag = node(codec as t.Mixed)._tag
  return tag === 'IntersectionType' || tag === 'UnionType'
}
const isList = (codec: t.Decoder<unknown, unknown>): boolean => {
  const { _tag, type } = node(codec as t.Mixed)
  if (_tag === 'RefinementType' && type !== undefined) return isList(type)
  return _tag === 'ArrayType' || _tag === 'ReadonlyArrayType'
}

type Fields = Readonly<Record<string, t.Mixed>>

/** The codecs of the fields, by name, for codecs that describe objects; `undefined` for all others. */
const fieldsOf = (codec: t.Mixed): Fields | undefined => {
  const cached = fieldsCache.get(codec)
  if (cached !== undefined) return cached.fields
  const fields = readFields(codec)
  fieldsCache.set(codec, { fields })
  return fields
}
const fieldsCache = new WeakMap<t.Mixed, { readonly fields: Fields | undefined }>()

/** What is said of a field that these do not have. It is made once: a request may have half a million such fields. */
const unknownField = (fields: Fields): string => {
  const known = unknownCache.get(fields) ?? `is not a field here; known: ${Object.keys(fields).sort().join(', ')}`
  unknownCache.set(fields, known)
  return known
}
const unknownCache = new WeakMap<Fields, string>()

const readFields = (codec: t.Mixed): Fields | undefined => {
  const { _tag, props, type, types } = node(codec)
  switch (_tag) {
    case 'InterfaceType':
    case 'PartialType':
      return Object.assign(Object.create(null), props) as Fields
    case 'ExactType':
    case 'ReadonlyType':
      return type === undefined ? undefined : fieldsOf(type)
    case 'IntersectionType': {
      const all: Record<string, t.Mixed> = Object.create(null) as Record<string, t.Mixed>
      for (const member of types ?? []) {
        const fields = fieldsOf(member)
        if (fields === undefined) return undefined
        Object.assign(all, fields)
      }
      return all
    }
    default:
      return undefined
  }
}

/** Finds what io-ts does not check: unknown fields, objects that serialize as something else, holes in a list, keys of a dictionary. */
const findUnseen = (codec: t.Mixed, value: unknown, path: string, found: Array<FieldError>): void => {
  if (typeof value !== 'object' || value === null) return
  const fields = fieldsOf(codec)
  if (fields !== undefined) {
    if (Array.isArray(value)) return
    if (!isPlain(value)) found.push({ path: path === '' ? '(body)' : path, message: 'must be a plain object' })
    for (const key of Object.keys(value)) {
      const field = fields[key]
      if (field === undefined) {
        found.push({ path: step(path, key, false), message: unknownField(fields) })
      } else findUnseen(field, (value as Record<string, unknown>)[key], step(path, key, false), found)
    }
    return
  }
  const { _tag, type, types, domain, codomain } = node(codec)
  if (_tag === 'RefinementType' && type !== undefined) findUnseen(type, value, path, found)
  else if (isList(codec) && type !== undefined && Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      if (i in value) findUnseen(type, value[i], `${path}[${i}]`, found)
      else found.push({ path: `${path}[${i}]`, message: `is required: ${expected(type)}` })
    }
  } else if (_tag === 'DictionaryType' && codomain !== undefined) {
    if (!isPlain(value)) found.push({ path, message: 'must be a plain object' })
    for (const [key, member] of Object.entries(value)) {
      if (domain?.is(key) === false) found.push({ path: step(path, key, false), message: `is no key here: it must be ${expected(domain)}` })
      else findUnseen(codomain, member, step(path, key, false), found)
    }
  } else if (_tag === 'UnionType') {
    const member = types?.find((candidate) => candidate.is(value)) ?? types?.find((candidate) => fieldsOf(candidate) !== undefined)
    if (member !== undefined) findUnseen(member, value, path, found)
  }
}
