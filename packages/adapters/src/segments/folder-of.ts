import type { LogAddress } from '../store/index.js'
import { resolvedFile } from '../store/resolved-file.js'

/** The folder of a log's archive; `undefined` if none was named. It need not exist. */
export const archiveFolderOf = (address: LogAddress): string | undefined => (address.kind === 'sqlite' ? archiveBeside(address.file) : address.archive)

/** The archive of an SQLite file. */
export const archiveBeside = (file: string): string => `${resolvedFile(file)}.archive`
