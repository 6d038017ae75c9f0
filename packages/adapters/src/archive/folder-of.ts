import type { LogAddress } from '../store/index.js'
import { resolvedFile } from '../store/resolved-file.js'

/** The folder of what was moved out of a log; `undefined` if nobody said where it is. It need not exist. */
export const archiveFolderOf = (address: LogAddress): string | undefined => (address.kind === 'sqlite' ? archiveBeside(address.file) : address.archive)

/** The one of an SQLite file. */
export const archiveBeside = (file: string): string => `${resolvedFile(file)}.archive`
