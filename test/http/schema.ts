/** A checker for the part of JSON Schema 2020-12 that the contract uses. Other keywords are an error. */
type Schema = Readonly<Record<string, unknown>>

const understood = new Set([
  '$ref', 'type', 'properties', 'required', 'additionalProperties', 'propertyNames', 'items', 'enum', 'const', 'anyOf',
  'minimum', 'maximum', 'minLength', 'maxLength', 'maxItems', 'pattern', 'format', 'description',
])

/** The violations, as `path: why`; empty if there are none. */
export const misfits = (schema: Schema, value: unknown, components: Readonly<Record<string, Schema>>, path = '$'): ReadonlyArray<string> => {
  for (const keyword of Object.keys(schema)) {
    if (!understood.has(keyword)) throw new Error(`${path}: this checker does not know ${keyword}`)
  }
  const inner = (part: Schema, member: unknown, at: string): ReadonlyArray<string> => misfits(part, member, components, at)
  if (typeof schema.$ref === 'string') {
    const target = components[schema.$ref.replace('#/components/schemas/', '')]
    if (target === undefined) throw new Error(`${path}: ${schema.$ref} has no target`)
    return inner(target, value, path)
  }
  if (Array.isArray(schema.anyOf)) {
    const tried = (schema.anyOf as ReadonlyArray<Schema>).map((option) => inner(option, value, path))
    return tried.some((found) => found.length === 0) ? [] : [`${path}: fits none of ${tried.map((found) => found[0]).join(' | ')}`]
  }
  const found: Array<string> = []
  const must = (holds: boolean, why: string): void => {
    if (!holds) found.push(`${path}: ${why}`)
  }
  if ('const' in schema) must(value === schema.const, `is not ${JSON.stringify(schema.const)}`)
  if (Array.isArray(schema.enum)) must(schema.enum.includes(value), `${JSON.stringify(value)} is not one of ${schema.enum.join()}`)
  if (typeof schema.type === 'string' && !isOfType(schema.type, value)) return [...found, `${path}: ${JSON.stringify(value).slice(0, 100)} is not ${schema.type}`]
  if (typeof value === 'number') {
    if (typeof schema.minimum === 'number') must(value >= schema.minimum, `${value} is under ${schema.minimum}`)
    if (typeof schema.maximum === 'number') must(value <= schema.maximum, `${value} is over ${schema.maximum}`)
  }
  if (typeof value === 'string') {
    if (typeof schema.minLength === 'number') must(value.length >= schema.minLength, 'is too short')
    if (typeof schema.maxLength === 'number') must(value.length <= schema.maxLength, 'is too long')
    if (typeof schema.pattern === 'string') must(new RegExp(schema.pattern).test(value), `${value} is not ${schema.pattern}`)
    if (schema.format === 'date-time') must(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value), `${value} is not a time in UTC with milliseconds`)
  }
  if (Array.isArray(value)) {
    if (typeof schema.maxItems === 'number') must(value.length <= schema.maxItems, 'is too long')
    if (schema.items !== undefined) value.forEach((item, i) => found.push(...inner(schema.items as Schema, item, `${path}[${i}]`)))
  } else if (typeof value === 'object' && value !== null) {
    const properties = (schema.properties ?? {}) as Readonly<Record<string, Schema>>
    for (const key of (schema.required ?? []) as ReadonlyArray<string>) must(Object.hasOwn(value, key), `${key} is missing`)
    for (const [key, member] of Object.entries(value)) {
      if (schema.propertyNames !== undefined) found.push(...inner(schema.propertyNames as Schema, key, `${path} (key)`))
      if (Object.hasOwn(properties, key)) found.push(...inner(properties[key] as Schema, member, `${path}.${key}`))
      else if (schema.additionalProperties === false) must(false, `${key} is not in the contract`)
      else if (typeof schema.additionalProperties === 'object') found.push(...inner(schema.additionalProperties as Schema, member, `${path}.${key}`))
    }
  }
  return found
}

const isOfType = (type: string, value: unknown): boolean => {
  switch (type) {
    case 'integer':
      return Number.isInteger(value)
    case 'null':
      return value === null
    case 'array':
      return Array.isArray(value)
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value)
    case 'string':
    case 'number':
    case 'boolean':
      return typeof value === type
    default:
      throw new Error(`type ${type}?`)
  }
}
