/** A user's projection: its module, and its own file. */
import { existsSync } from 'node:fs'
import { basename, extname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { readModels, readOwn, results, type TableProjection } from '@daybook/projections'
import Database from 'better-sqlite3'
import * as E from 'fp-ts/lib/Either.js'
import { errorText } from '../error-text.js'
import { unusable, ViewsFile } from './views-file.js'

/** A module, or the file of its tables, cannot be used as it is. The message says what to do. */
export class UnusableModule extends Error {
  override readonly name = 'UnusableModule'
}

const isTypeScript = (file: string): boolean => ['.ts', '.mts', '.cts'].includes(extname(file))

/** Whether this Node loads TypeScript by itself. Versions from 22.18 and from 23.6 do. */
const loadsTypeScript = (): boolean => Boolean((process.features as { readonly typescript?: unknown }).typescript)

/**
 * The projection that a module exports by default.
 *
 * @throws UnusableModule
 */
export const loadProjection = async (path: string): Promise<TableProjection> => {
  const file = resolve(path)
  if (!existsSync(file)) throw new UnusableModule(`${path} is not there: --module names a JavaScript file`)
  if (isTypeScript(file) && !loadsTypeScript()) {
    const stem = basename(file, extname(file))
    throw new UnusableModule(`${path} is TypeScript, which Node ${process.versions.node} does not load: compile it (npx tsc ${basename(file)} --module nodenext, or npx esbuild ${basename(file)} --outfile=${stem}.mjs), or run Daybook with Node 22.18 or newer`)
  }
  const loaded = await (import(pathToFileURL(file).href) as Promise<{ readonly default?: unknown }>).catch((error: unknown) => {
    const missing = error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND' ? ': install it beside the module (npm install io-ts fp-ts)' : ''
    throw new UnusableModule(`${path} cannot be loaded: ${errorText(error)}${missing}`, { cause: error })
  })
  if (loaded.default === undefined) throw new UnusableModule(`${path} has no default export: export default { name, version, codec, initial, fold }`)
  const read = readOwn(loaded.default)
  if (E.isLeft(read)) throw new UnusableModule(`${path} exports no projection: ${read.left.join('; ')}`)
  assertTables(path, read.right)
  return read.right
}

/** Makes the tables in memory: in the module's file, an error would look like one of the file. */
const assertTables = (path: string, model: TableProjection): void => {
  try {
    const views = ViewsFile.open({ file: ':memory:', models: [model] })
    views.completeIndexes()
    views.close()
  } catch (error) {
    const { message } = error instanceof Error && error.cause instanceof Error ? error.cause : (error as Error)
    throw new UnusableModule(`${path} exports tables that SQLite cannot make (${message}): is a table, a column or an index named by a word of SQL, such as order or group?`, { cause: error })
  }
}

/** What `look` finds in the file; `undefined` if there is no file. */
const lookInto = <A>(file: string, look: (db: Database.Database) => A): A | undefined => {
  if (!existsSync(file)) return undefined
  let db: Database.Database | undefined
  try {
    db = new Database(file, { readonly: true })
    return look(db)
  } catch (error) {
    throw unusable(error, file)
  } finally {
    db?.close()
  }
}

/** The names of the projections in a file. */
const namesIn = (file: string): ReadonlyArray<string> =>
  lookInto(file, (db) => {
    const isOurs = db.prepare("SELECT count(*) FROM sqlite_schema WHERE name = 'projections'").pluck().get() === 1
    return isOurs ? db.prepare<[], string>('SELECT DISTINCT name FROM projections').pluck().all() : []
  }) ?? []

/**
 * A file belongs to one module, because all tables of a file are built anew together.
 *
 * @throws UnusableModule if it has tables of another projection.
 */
export const assertOwnFile = (file: string, { name }: TableProjection): void => {
  const others = namesIn(file).filter((found) => found !== name)
  if (others.length > 0) throw new UnusableModule(`${file} has ${others.join(', ')}, not ${name}: each module has a file of its own, see --views`)
}

/**
 * The same for the read models. A file of another version may have read models that this one does not know.
 *
 * @throws UnusableModule if it has the tables of a module.
 */
export const assertReadModelsFile = (file: string): void => {
  const found = namesIn(file)
  if (found.length > 0 && !found.some((name) => readModels.some((model) => model.name === name))) {
    throw new UnusableModule(`${file} belongs to the module ${found.join(', ')}, and the read models need another file: see --views`)
  }
}

export interface OwnResult {
  readonly queue: string
  readonly revision: number
  /** JSON text. */
  readonly result: string
}

/** The results of a value projection, for each queue. Empty for a projection with tables of its own. */
export const readResults = (file: string, { name, tables }: TableProjection): ReadonlyArray<OwnResult> => {
  if (!tables.some((table) => table === results)) return []
  return lookInto(file, (db) => {
    const rows = db.prepare<[string], OwnResult>("SELECT queue, revision, result FROM results JOIN projections USING (queue) WHERE name = ? AND projections.state = 'current' ORDER BY queue")
    return rows.all(name)
  }) ?? []
}
