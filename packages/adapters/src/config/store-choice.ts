import { join, resolve } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import { archiveFolderName, keysFileName, logFileName, type StoreChoice } from './serve-options.js'

/** Reads `sqlite:FILE`, `sqlite+shared:FILE`, `esdb://…`, `esdb+discover://…`, the same with `kurrentdb`, or `memory:`. The default is a file in the data folder. `Left` says what is accepted. */
export const readStore = (text: string | undefined, dataDir: string): E.Either<string, StoreChoice> => {
  if (text === undefined) return E.right({ kind: 'sqlite', file: join(dataDir, logFileName), sharing: 'exclusive' })
  if (text === 'memory:') return E.right({ kind: 'memory' })
  const [, shared, file] = /^sqlite(\+shared)?:(.+)$/.exec(text) ?? []
  if (file !== undefined) {
    return E.right({ kind: 'sqlite', file: resolve(file.replace(/^\/\//, '')), sharing: shared === undefined ? 'exclusive' : 'shared' })
  }
  if (/^(esdb|kurrentdb)(\+discover)?:\/\/[^/?]/.test(text)) return E.right({ kind: 'eventstoredb', url: text, archive: join(dataDir, archiveFolderName), keys: join(dataDir, keysFileName) })
  // The refusal goes into logs, so it has no password.
  const shown = text.replace(/\/\/.*@/s, '//…@')
  return E.left(`store ${JSON.stringify(shown)} is not known: sqlite:FILE, sqlite+shared:FILE, esdb://HOST:PORT or kurrentdb://HOST:PORT, or memory: (which forgets everything at the end)`)
}
