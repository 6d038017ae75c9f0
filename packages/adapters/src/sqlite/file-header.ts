/**
 * Reads a file's first 100 bytes without SQLite. SQLite could leave `-wal` and `-shm` files beside it or roll back a journal, and a file that is not
 * Daybook's must stay untouched.
 *
 * *Gotchas*: POSIX drops all of a process's locks on a file when any descriptor of it is closed. Never call this for a file that this process has
 * open through SQLite.
 */
import { stat } from 'node:fs/promises'
import { undefinedIfMissing } from '../disk/if-missing.js'
import { readPart } from '../disk/read-part.js'
import { StoreError } from '../store/index.js'
import { applicationId, schemaVersion } from './schema.js'

const magic = Buffer.from('SQLite format 3\0', 'latin1')
const headerBytes = 100

const refuse = (code: StoreError['code'], file: string, words: string): never => {
  throw new StoreError(code, `${file} ${words}`)
}

/** Header fields that always have these values in a file made by `createSchema`. */
type Field = readonly [name: string, offset: number, bytes: number, allowed: ReadonlyArray<number>]
const fixedFields: ReadonlyArray<Field> = [
  ['write version', 18, 1, [1, 2]],
  ['read version', 19, 1, [1, 2]],
  ['reserved space', 20, 1, [0]],
  ['payload fractions', 21, 3, [0x402020]],
  ['schema format', 44, 4, [4]],
  ['auto-vacuum root', 52, 4, [0]],
  ['text encoding', 56, 4, [1]],
  ['incremental vacuum', 64, 4, [0]],
]

/** Throws a {@link StoreError} unless the bytes begin a Daybook store that this version can open. */
const checkHeader = (file: string, header: Buffer): void => {
  if (header.length === 0) {
    refuse('not-a-database', file, 'is empty. If nothing is missing, remove it and start again.')
  }
  if (header.length < headerBytes || !header.subarray(0, magic.length).equals(magic)) {
    refuse('not-a-database', file, 'is not an SQLite database: give another file.')
  }
  if (header.readUInt32BE(68) !== applicationId) {
    refuse('wrong-schema', file, 'is an SQLite database of another program: give another file.')
  }
  const version = header.readUInt32BE(60)
  if (version > schemaVersion) {
    const words = `has schema version ${version}, this program knows ${schemaVersion}: use a newer Daybook.`
    refuse('wrong-schema', file, words)
  }
  for (const [name, offset, bytes, allowed] of fixedFields) {
    const value = header.readUIntBE(offset, bytes)
    if (!allowed.includes(value)) {
      refuse('damaged', file, `has a damaged header (${name} is ${value}): restore a backup.`)
    }
  }
  if (version === 0 || header.subarray(72, 92).some((byte) => byte !== 0)) {
    refuse('damaged', file, 'has a damaged header: restore a backup.')
  }
}

/** `missing` if there is no file; `ours` if {@link checkHeader} found no fault. */
export const inspectFile = async (file: string): Promise<'missing' | 'ours'> => {
  const found = await stat(file).catch(undefinedIfMissing)
  const wal = await stat(`${file}-wal`).catch(() => undefined)
  if (found === undefined) {
    if ((wal?.size ?? 0) === 0) return 'missing'
    return refuse('damaged', file, 'is missing, but its -wal file is there: restore both, or remove that too.')
  }
  if (!found.isFile()) return refuse('not-a-database', file, 'is not a file: give another path.')
  const header = await readPart(file, 0, headerBytes)
  checkHeader(file, header)
  // After a crash the WAL may still have the pages that the file lacks.
  const bytes = header.readUInt32BE(28) * (header.readUInt16BE(16) === 1 ? 65536 : header.readUInt16BE(16))
  if (found.size < bytes && (wal?.size ?? 0) === 0) {
    refuse('damaged', file, `is cut short (${found.size} of ${bytes} bytes): restore a backup.`)
  }
  return 'ours'
}
