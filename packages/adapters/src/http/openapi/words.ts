/** Descriptions of parameters and fields. Codecs define the allowed values. */
import type { JsonSchema } from './json-schema.js'
import { fieldWords } from './field-words.js'

/** The component schemas, with descriptions of their fields. */
export const withWords = (schemas: Readonly<Record<string, JsonSchema>>): JsonSchema =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, described(schema, fieldWords[name] ?? {}, '')]))

const described = (schema: JsonSchema, own: Readonly<Record<string, string>>, path: string): JsonSchema => {
  const about = own[path]
  const properties = schema.properties as Readonly<Record<string, JsonSchema>> | undefined
  const items = schema.items as JsonSchema | undefined
  return {
    ...schema,
    ...(about === undefined ? {} : { description: about }),
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, member]) => {
              const inner = path === '' ? name : `${path}.${name}`
              return [name, withField(described(member, own, inner), own[inner] ?? fieldWords['*']?.[name])]
            }),
          ),
        }),
    ...(items === undefined ? {} : { items: described(items, own, path === '' ? '' : `${path}[]`) }),
  }
}

/** The description of a field, followed by the codec's own description if the schema does not show that. */
const withField = (schema: JsonSchema, words: string | undefined): JsonSchema => {
  if (words === undefined) return schema
  const { description, minimum } = schema
  const form = typeof description === 'string' && minimum === undefined && description !== words ? ` Form: ${description}.` : ''
  return { ...schema, description: `${words}${form}` }
}
