import { resolvedFile } from '../store/resolved-file.js'
import type { LogAddress } from '../store/index.js'

/** The file with the keys of a log's erasable tasks; `undefined` if none was named. It need not exist. */
export const keysFileOf = (address: LogAddress): string | undefined => (address.kind === 'sqlite' ? keysBeside(address.file) : address.keys)

/** The file with the keys of a log in an SQLite file. */
export const keysBeside = (file: string): string => `${resolvedFile(file)}.keys`
