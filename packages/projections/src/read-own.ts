/** Reads what a user's module exports. */
import * as E from 'fp-ts/lib/Either.js'
import { named, type ValueProjection, valueTables } from './own-projection.js'
import { readModels, type TableProjection } from './read-models/index.js'

type Members = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Members => (typeof value === 'object' && value !== null) || typeof value === 'function'
const isFunction = (value: unknown): boolean => typeof value === 'function'

const nameForm = /^[a-z][a-z0-9-]{0,62}$/
const columnForm = /^[a-z][a-z0-9_]{0,62}$/
/** Tables that every file of read models has or may have. */
const reserved: ReadonlySet<string> = new Set(['projections', 'queues', 'first_builds', 'search'])

/** `Left` says what is wrong, one line for each fault. `Right` is the projection; its errors are {@link ProjectionFailed}. */
export const readOwn = (exported: unknown): E.Either<ReadonlyArray<string>, TableProjection> => {
  if (!isObject(exported)) return E.left(['its default export is no object: a projection has name, version, codec, initial and fold; or name, version, tables and feed'])
  const hasTables = 'tables' in exported || 'feed' in exported
  const problems = [...common(exported), ...(hasTables ? ofTables(exported) : ofValue(exported))]
  if (problems.length > 0) return E.left(problems)
  // The shape was checked above as far as possible. What its functions take and return shows only when they run.
  const own = exported as unknown
  return E.right(named(hasTables ? (own as TableProjection) : valueTables(own as ValueProjection<unknown>)))
}

function* common({ name, version }: Members): Generator<string, void> {
  if (typeof name !== 'string' || !nameForm.test(name)) yield 'name must be a text of lower-case letters, digits and hyphens that begins with a letter, 63 at most'
  else if (readModels.some((model) => model.name === name)) yield `name must not be ${name}: a read model of Daybook has that name`
  if (!Number.isSafeInteger(version) || (version as number) < 1) yield 'version must be a whole number from 1 on'
}

function* ofValue({ codec, initial, fold, result }: Members): Generator<string, void> {
  if (!isObject(codec) || !isFunction(codec.decode) || !isFunction(codec.encode)) yield 'codec must be an io-ts codec of the state: decode and encode'
  if (!isFunction(initial)) yield 'initial must be a function that makes the state before the first event'
  if (!isFunction(fold)) yield 'fold must be a function (state, logged) that returns the state'
  if (result !== undefined && !isFunction(result)) yield 'result must be a function of the state, if it is there'
}

function* ofTables({ tables, feed }: Members): Generator<string, void> {
  if (!isFunction(feed)) yield 'feed must be a function that returns fold and settle'
  if (!Array.isArray(tables) || tables.length === 0) return yield 'tables must be a list of tables'
  const names = new Set<unknown>()
  for (const [i, table] of (tables as ReadonlyArray<unknown>).entries()) {
    if (!isObject(table)) {
      yield `tables[${i}] must be a table`
      continue
    }
    const { name, columns, key } = table
    if (typeof name !== 'string' || !columnForm.test(name) || reserved.has(name) || name.startsWith('next_')) yield `tables[${i}].name must be lower-case letters, digits and _, and none of ${[...reserved].join(', ')}, next_…`
    if (names.has(name)) yield `tables[${i}].name is that of another table`
    names.add(name)
    const known = isObject(columns) ? Object.keys(columns) : []
    if (known.length === 0 || !known.every((column) => columnForm.test(column))) yield `tables[${i}].columns must have columns with names of lower-case letters, digits and _`
    if (!Array.isArray(key) || key.length === 0 || !key.every((column) => known.includes(String(column)))) yield `tables[${i}].key must name one column or more`
  }
}
