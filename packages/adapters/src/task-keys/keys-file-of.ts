import { resolvedFile } from '../store/resolved-file.js'
import type { LogAddress } from '../store/index.js'

/** The file with the keys of a log's erasable tasks; `undefined` if none was named. It need not exist. */
export const keysFileOf = (address: LogAddress): string | undefined => (address.kind === 'sqlite' ? `${resolvedFile(address.file)}.keys` : address.keys)
