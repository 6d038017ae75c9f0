/** Converts io-ts codecs to JSON Schema 2020-12, which OpenAPI 3.1 uses. The codecs are the only source. */
import { AgentId, BatchId, ConcurrencyKey, Instant, JsonObject, Name, QueueName, ScheduleName, TaskId, TaskRef, TaskType, TenantName, Text, textMax, TraceParent, TypePattern } from '@daybook/core'
import type * as t from 'io-ts'
import { Time } from '../../iso-time.js'

export interface JsonSchema {
  readonly [keyword: string]: unknown
}

/** Sets the schema of a codec whose structure does not show it. */
export const described = <C extends t.Mixed>(codec: C, schema: JsonSchema): C => {
  known.set(codec, schema)
  return codec
}
const known = new WeakMap<t.Mixed, JsonSchema>()

const text = (codec: t.Mixed, more: JsonSchema): void => {
  described(codec, { type: 'string', description: codec.name, ...more })
}
const name = { minLength: 1, maxLength: 128 }
text(TaskId, { ...name, pattern: '^[^#]' })
text(TaskRef, { ...name, pattern: '^([^#]|#[1-9][0-9]{0,15}$)' })
text(BatchId, { ...name, maxLength: 100, pattern: '^[^#]' })
text(ConcurrencyKey, { ...name, pattern: '^(?!\\*$|type:|tenant:)' })
for (const codec of [QueueName, ScheduleName]) text(codec, { pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$' })
text(TenantName, { pattern: '^(?!(type|tenant)$)[A-Za-z0-9][A-Za-z0-9._-]{0,31}$' })
text(TraceParent, { pattern: '^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$' })
text(AgentId, name)
text(TaskType, { ...name, pattern: '^[^*]*$' })
text(TypePattern, { ...name, pattern: '^[^*]*\\*?$' })
text(Name, name)
text(Text, { maxLength: textMax })
text(Time, { format: 'date-time' })
described(JsonObject, { type: 'object' })
described(Instant, { type: 'integer', minimum: 0, description: Instant.name })

/** The part of io-ts's type classes that is used here. */
interface Node {
  readonly _tag?: string
  readonly props?: Readonly<Record<string, t.Mixed>>
  readonly type?: t.Mixed
  readonly types?: ReadonlyArray<t.Mixed>
  readonly domain?: t.Mixed
  readonly codomain?: t.Mixed
  readonly keys?: Readonly<Record<string, unknown>>
  readonly value?: unknown
}

/**
 * The schema of a codec. An object codec with a name such as `Task` is put into `components`, and the result refers to it.
 *
 * @throws Error for a codec without a translation: a route that cannot be documented is not served.
 */
export const schemaOf = (codec: t.Mixed, components: Map<string, JsonSchema>): JsonSchema => {
  const given = known.get(codec)
  if (given !== undefined) return given
  const { _tag } = codec as Node
  const isObject = _tag === 'InterfaceType' || _tag === 'PartialType' || _tag === 'IntersectionType' || _tag === 'ExactType'
  // io-ts names a codec without a given name after its structure, for example `{ reason: string }`.
  if (!isObject || !/^[A-Za-z][A-Za-z ]*$/.test(codec.name)) return structure(codec, components)
  const key = codec.name.replace(/(?:^| )(\w)/g, (_, letter: string) => letter.toUpperCase())
  if (!components.has(key)) {
    // The name is reserved before its schema is made, so that a recursive codec finds it.
    components.set(key, {})
    components.set(key, structure(codec, components))
  }
  return { $ref: `#/components/schemas/${key}` }
}

const structure = (codec: t.Mixed, components: Map<string, JsonSchema>): JsonSchema => {
  const { _tag, type, types = [], codomain, domain, keys, value } = codec as Node
  const inner = (member: t.Mixed): JsonSchema => schemaOf(member, components)
  switch (_tag) {
    case 'StringType':
      return { type: 'string' }
    case 'NumberType':
      return { type: 'number' }
    case 'BooleanType':
      return { type: 'boolean' }
    case 'NullType':
      return { type: 'null' }
    case 'UnknownType':
      return {}
    case 'LiteralType':
      return { const: value }
    case 'KeyofType':
      return { type: 'string', enum: Object.keys(keys ?? {}) }
    case 'ArrayType':
    case 'ReadonlyArrayType':
      return { type: 'array', items: inner(type as t.Mixed) }
    case 'DictionaryType': {
      const names = domain === undefined ? {} : inner(domain)
      const free = Object.keys(names).length === 1 && names.type === 'string'
      return { type: 'object', ...(free ? {} : { propertyNames: names }), additionalProperties: inner(codomain as t.Mixed) }
    }
    case 'UnionType':
      return { anyOf: types.map(inner) }
    case 'ReadonlyType':
      return inner(type as t.Mixed)
    case 'InterfaceType':
    case 'PartialType':
    case 'ExactType':
    case 'IntersectionType':
      return objectSchema(codec, components)
    case 'RefinementType':
      return { ...inner(type as t.Mixed), ...rangeOf(codec.name), description: codec.name }
    default:
      if (codec.name === 'JSON value') return { description: 'any JSON' }
      if (codec.name === 'JSON object') return { type: 'object' }
      throw new Error(`no JSON Schema for ${codec.name} (${_tag ?? 'a codec of its own kind'}): describe it`)
  }
}

/** Codecs of numbers and lists are named after their ranges: `whole number from 1 to 10`. */
const rangeOf = (codecName: string): JsonSchema => {
  const range = /^(whole number|number) from (-?[\d.]+) to (-?[\d.]+)$/.exec(codecName)
  if (range !== null) {
    return { type: range[1] === 'number' ? 'number' : 'integer', minimum: Number(range[2]), maximum: Number(range[3]) }
  }
  const most = /^at most (\d+) task ids$/.exec(codecName)
  if (most !== null) return { maxItems: Number(most[1]) }
  const some = /^list of 1 to (\d+) different /.exec(codecName)
  if (some !== null) return { minItems: 1, maxItems: Number(some[1]), uniqueItems: true }
  // More than spaces.
  return /^text of 1 to \d+ characters$/.test(codecName) ? { minLength: 1, pattern: '\\S' } : {}
}

interface Fields {
  readonly properties: Record<string, JsonSchema>
  readonly required: Array<string>
}

/** Merges an intersection into one object: unknown fields are refused, which `allOf` cannot express. */
const objectSchema = (codec: t.Mixed, components: Map<string, JsonSchema>): JsonSchema => {
  const fields: Fields = { properties: {}, required: [] }
  gather(codec, fields, components)
  const { properties, required } = fields
  return { type: 'object', properties, ...(required.length === 0 ? {} : { required }), additionalProperties: false }
}

const gather = (codec: t.Mixed, fields: Fields, components: Map<string, JsonSchema>): void => {
  const { _tag, props = {}, type, types = [] } = codec as Node
  switch (_tag) {
    case 'InterfaceType':
    case 'PartialType':
      for (const [key, member] of Object.entries(props)) {
        fields.properties[key] = schemaOf(member, components)
        if (_tag === 'InterfaceType') fields.required.push(key)
      }
      return
    case 'ExactType':
      return gather(type as t.Mixed, fields, components)
    case 'IntersectionType':
      for (const member of types) gather(member, fields, components)
      return
    default:
      throw new Error(`${codec.name} is not an object: it cannot be part of an intersection`)
  }
}
