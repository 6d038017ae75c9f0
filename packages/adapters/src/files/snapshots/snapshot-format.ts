/**
 * A snapshot file: a header line, the fold's pages, a line with the row files that it names, and a footer line with a checksum of everything before
 * it. Header and footer are JSON, so that `head -1` and `tail -1` show them.
 */
import { open, type FileHandle } from 'node:fs/promises'
import type { ChainHead, SnapshotBase, SnapshotHeader } from '../../store/index.js'

const formatName = 'daybook-snapshot'
const formatVersion = 4
/** Of an increment. So an earlier version of this program, which does not know increments, skips it. */
const incrementVersion = 5

const headerBytesMax = 16 * 1024
/** The footer has a fixed length, so that it can be read without the part before it. */
export const footerBytes = 160

export const headerLine = ({ stream, revision, eventId, foldVersion, sealed, base }: SnapshotHeader): string =>
  `${JSON.stringify({ format: formatName, version: base === undefined ? formatVersion : incrementVersion, stream, revision, eventId, foldVersion, sealed, base })}\n`

export interface SnapshotFooter {
  readonly pages: number
  /** Length of the line with the row files, in bytes. */
  readonly rows: number
  readonly sha256: string
}

export const rowsLine = (files: Iterable<string>): string => `${JSON.stringify([...files])}\n`

export const footerLine = ({ pages, rows, sha256 }: SnapshotFooter): string =>
  `${JSON.stringify({ pages, rows, sha256 }).padEnd(footerBytes - 1)}\n`

export interface SnapshotFile {
  readonly header: SnapshotHeader
  readonly footer: SnapshotFooter
  /** The row files that it names. */
  readonly rows: ReadonlySet<string>
  /** Size of the file in bytes. */
  readonly size: number
  /** Where the pages begin and end, in bytes. */
  readonly from: number
  readonly to: number
}

const parse = (text: string): Readonly<Record<string, unknown>> | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined
  } catch {
    return undefined
  }
}

const parseHeader = (line: string): SnapshotHeader | string => {
  const { format, version, stream, revision, eventId, foldVersion, sealed, base } = parse(line) ?? {}
  if (format !== formatName) return 'its header is not that of a snapshot'
  if (version !== formatVersion && version !== incrementVersion) return `its format version is ${String(version)}, not ${formatVersion} or ${incrementVersion}`
  if (typeof stream !== 'string' || typeof revision !== 'number' || typeof eventId !== 'string' || typeof foldVersion !== 'number') {
    return 'its header is damaged'
  }
  const known = readSealed(sealed)
  const snapshot = { stream, revision, eventId, foldVersion, ...(known === undefined ? {} : { sealed: known }) }
  if (version === formatVersion) return snapshot
  const before = readBase(base, revision)
  return before === undefined ? 'its header is damaged' : { ...snapshot, base: before }
}

const readBase = (value: unknown, before: number): SnapshotBase | undefined => {
  if (typeof value !== 'object' || value === null) return undefined
  const { revision, eventId, tasks } = value as Readonly<Record<string, unknown>>
  return typeof revision === 'number' && revision < before && typeof eventId === 'string' && typeof tasks === 'number' ? { revision, eventId, tasks } : undefined
}

const readSealed = (value: unknown): ChainHead | null | undefined => {
  if (typeof value !== 'object' || value === null) return value === null ? null : undefined
  const { revision, hash } = value as { readonly revision?: unknown; readonly hash?: unknown }
  return typeof revision === 'number' && typeof hash === 'string' ? { revision, hash } : undefined
}

const parseFooter = (line: string): SnapshotFooter | string => {
  const { pages, rows, sha256 } = (line.endsWith('\n') ? parse(line) : undefined) ?? {}
  return typeof pages === 'number' && typeof rows === 'number' && typeof sha256 === 'string' ? { pages, rows, sha256 } : 'it is not complete'
}

const parseRows = (line: string): ReadonlySet<string> | undefined => {
  try {
    const files: unknown = JSON.parse(line)
    return Array.isArray(files) && files.every((file) => typeof file === 'string') ? new Set(files) : undefined
  } catch {
    return undefined
  }
}

const readText = async (handle: FileHandle, from: number, bytes: number): Promise<string> => {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(bytes), 0, bytes, from)
  return buffer.toString('utf8', 0, bytesRead)
}

/** Reads header and footer. If the file is not a whole snapshot, returns the reason as text. */
export const inspectSnapshot = async (path: string): Promise<SnapshotFile | string> => {
  const handle = await open(path, 'r')
  try {
    const { size } = await handle.stat()
    const [first = '', ...rest] = (await readText(handle, 0, Math.min(size, headerBytesMax))).split('\n', 2)
    const header = parseHeader(first)
    if (typeof header === 'string') return header
    const from = Buffer.byteLength(first) + 1
    const end = size - footerBytes
    if (rest.length === 0 || end < from) return 'it is not complete'
    const footer = parseFooter(await readText(handle, end, footerBytes))
    if (typeof footer === 'string') return footer
    const to = end - footer.rows
    if (!(footer.rows >= 0) || to < from) return 'it is not complete'
    const rows = parseRows(await readText(handle, to, footer.rows))
    return rows === undefined ? 'it is damaged' : { header, footer, rows, size, from, to }
  } finally {
    await handle.close()
  }
}
