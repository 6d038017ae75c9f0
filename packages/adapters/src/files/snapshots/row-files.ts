/**
 * Files with the rows of old finished tasks, which need not be in memory (ADR 52), and which snapshots name instead of copying them (ADR 54). They
 * are in the folder of the snapshots. Only the process that created a file writes to it, and it never overwrites bytes that belong to a chunk.
 *
 *     written ── a snapshot that names it is committed: synced before ──▶ named ── its last snapshot is deleted, nobody refers to its rows ──▶ deleted
 *        └────────── nobody refers to its rows, or its process ended, before a snapshot named it ──────────────────────────────────────────────▲
 *
 * Rows are removed from the front, so old files empty first. A file is closed when nothing refers to its rows any more. Undo, walks and past states
 * may refer to removed rows, so the garbage collector determines this. A file that is deleted while it is open can be read until it is closed.
 *
 * The columns of all chunks are at the beginning of a file, and the rows come after them. A start reads the columns alone, so it reads one part of the
 * file from its beginning to its end. What the columns do not use of their part is a hole, which takes no room on the disk.
 */
import { closeSync, existsSync, fstatSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import type { KeptRows, RowsPlace, RowStore } from '@daybook/core'
import { packNumbers, unpackNumbers } from './packed-numbers.js'
import { isAlive } from '../../disk/process-alive.js'
import { rowFileName, writerOf } from './snapshot-names.js'
import { syncPath } from '../../disk/sync-path.js'

/** A file ends when its rows have this many bytes, or when its columns have filled their part. */
const fileBytes = 2 ** 26
/** The part for columns, as a share of {@link fileBytes}. Those of a chunk have about 16 bytes for each row, and most rows have 80 or more. */
const columnsShare = 1 / 4
/** 2.6 MB in memory for tasks of 80 bytes. A queue that has finished at most 32,768 tasks writes nothing. */
const newest = 64
/** Number of rows in a kept chunk. */
const chunkRows = 512

export interface RowFilesOptions {
  readonly warn?: (message: string) => void
  /** Default: 64 chunks of 512 rows. */
  readonly newest?: number
  /** A file ends when its rows have this many bytes. Its part for columns, a quarter of this, is not counted. Default: 64 MiB. */
  readonly fileBytes?: number
}

export interface RowFiles {
  /** The store for the rows of one queue. */
  readonly storeOf: (stream: string) => RowStore
  /** Makes the rows in these files survive a power cut. Rejects if a file is gone, because its rows then have no place any more. */
  readonly makeDurable: (stream: string, files: ReadonlySet<string>) => Promise<void>
  /** Deletes those of these unnamed files that are not open here and were not written by another live process. */
  readonly remove: (unnamed: ReadonlyArray<string>) => Promise<void>
  /** Reads the rows that a snapshot names. */
  readonly rowsOf: (stream: string) => (place: RowsPlace) => KeptRows
  /** Closes all files. Their rows cannot be read any more. */
  readonly close: () => void
}

/** An open file. `fd` is `undefined` once it is closed, because the number may then belong to another file. */
interface OpenFile {
  readonly path: string
  fd: number | undefined
}

/** Files of this process: the open ones; and, of those that it wrote, the ones with unsynced bytes, or with unsynced names. */
const openFiles = new Set<OpenFile>()
const unsynced = new Set<string>()
/** Files that were deleted by another process or a person. */
const gone = new Set<string>()

export const openRowFiles = (dir: string, { warn = () => undefined, ...limits }: RowFilesOptions = {}): RowFiles => {
  const own = new Set<OpenFile>()
  const close = (file: OpenFile): void => {
    own.delete(file)
    openFiles.delete(file)
    if (file.fd !== undefined) closeSync(file.fd)
    file.fd = undefined
  }
  const unused = new FinalizationRegistry<OpenFile>(close)
  const opened = (stream: string, id: string, flags: string): RowFile => {
    const path = join(dir, rowFileName(stream, id))
    const file: OpenFile = { path, fd: openSync(path, flags, 0o600) }
    const rows = new RowFile(file, id)
    own.add(file)
    openFiles.add(file)
    unused.register(rows, file)
    return rows
  }
  let hasFailed = false
  const failed = (stream: string, error: unknown): void => {
    if (!hasFailed) warn(`rows of finished tasks of ${stream} stay in memory, because they cannot be written in ${dir}: ${(error as Error).message}`)
    hasFailed = true
  }

  const makeDurable: RowFiles['makeDurable'] = async (stream, files) => {
    let isNew = false
    for (const id of files) {
      const path = join(dir, rowFileName(stream, id))
      if (!existsSync(path)) {
        gone.add(path)
        throw new Error(`${path} is gone: its rows will be in the next snapshot`)
      }
      // Removed before the sync: rows that are written meanwhile are not named yet.
      if (!unsynced.delete(path)) continue
      isNew = true
      await syncFile(path).catch((error: unknown) => {
        gone.add(path)
        throw error
      })
    }
    if (isNew) await syncPath(dir)
  }

  const remove: RowFiles['remove'] = async (unnamed) => {
    const inUse = new Set([...openFiles].map(({ path }) => path))
    for (const name of unnamed) if (!inUse.has(join(dir, name)) && isOurs(name)) await rm(join(dir, name), { force: true })
  }

  const rowsOf: RowFiles['rowsOf'] = (stream) => {
    const files = new Map<string, RowFile>()
    return (place) => {
      let file = files.get(place.file)
      if (file === undefined) files.set(place.file, (file = opened(stream, place.file, 'r')))
      return file.at(place)
    }
  }

  return {
    storeOf: (stream) => rowStore(() => opened(stream, newId(), 'wx+'), limits, (error) => failed(stream, error)),
    makeDurable,
    remove,
    rowsOf,
    close: () => [...own].forEach(close),
  }
}

/** Whether no other live process has written the file. */
const isOurs = (name: string): boolean => {
  const pid = writerOf(name)
  return pid === process.pid || !isAlive(pid)
}

const syncFile = async (path: string): Promise<void> => {
  const handle = await open(path, 'r+')
  try {
    await handle.datasync()
  } finally {
    await handle.close()
  }
}

let serial = 0
/** The process id, and a part that distinguishes this process from an earlier one with the same id. */
const newId = (): string => `${process.pid}-${started}-${serial++}`
const started = Math.floor(performance.timeOrigin).toString(36)

const rowStore = (newFile: () => RowFile, limits: Omit<RowFilesOptions, 'warn'>, failed: (error: unknown) => void): RowStore => {
  const rowsMax = limits.fileBytes ?? fileBytes
  let file: RowFile | undefined
  const keep: RowStore['keep'] = (bytes, columns) => {
    try {
      const columnBytes = packNumbers(columns, chunkRows)
      if (file?.hasRoomFor(columnBytes, rowsMax) !== true) {
        file = newFile()
        file.begin(Math.max(Math.ceil(columnsShare * rowsMax), columnBytes.byteLength))
      }
      return file.append(bytes, columnBytes)
    } catch (error) {
      failed(error)
      return undefined
    }
  }
  return { newest: limits.newest ?? newest, keep }
}

/** Shared by all chunks. An array for each would be garbage between the arrays that stay, of which a start leaves hundreds of megabytes. */
let packed = new Uint8Array(0)

class RowFile {
  /** Its size. Of a file that is being written: where the next rows begin. */
  private end: number
  /** Of a file that is being written: where the first rows begin, and where the next columns do. */
  private rowsFrom = 0
  private columnsEnd = 0

  constructor(
    private readonly file: OpenFile,
    private readonly id: string,
  ) {
    this.end = fstatSync(fdOf(file)).size
  }

  /** To be called for a new file. `columnsBytes`: the size of the part for columns. */
  begin(columnsBytes: number): void {
    this.rowsFrom = this.end = columnsBytes
  }

  /** Whether the next chunk, with these columns, belongs in this file. `rowsMax`: the number of bytes of rows that are enough. */
  hasRoomFor(columns: Uint8Array, rowsMax: number): boolean {
    return this.end - this.rowsFrom < rowsMax && this.columnsEnd + columns.byteLength <= this.rowsFrom
  }

  /** @throws Error if not all bytes can be written. The next append overwrites the incomplete part. */
  append(rows: Uint8Array, columns: Uint8Array): KeptRows {
    const { end, columnsEnd } = this
    unsynced.add(this.file.path)
    this.write(rows, end)
    this.write(columns, columnsEnd)
    this.end += rows.byteLength
    this.columnsEnd += columns.byteLength
    return this.at({ file: this.id, at: [end, rows.byteLength, crc32(rows), columns.byteLength, crc32(columns), columnsEnd] })
  }

  /** @throws Error if the file ends before the place. */
  at(place: RowsPlace): KeptRows {
    // In files of earlier versions, the columns of a chunk come after its rows.
    const [from = 0, rowsBytes = 0, rowsSum = 0, columnsBytes = 0, columnsSum = 0, columnsFrom = from + rowsBytes] = place.at
    const end = Math.max(from + rowsBytes, columnsFrom + columnsBytes)
    if (end > this.end) throw new Error(`${this.file.path} ends at ${this.end}, and rows that a snapshot names at ${end}`)
    return {
      read: () => this.read(from, rowsSum, new Uint8Array(rowsBytes)),
      columns: (into) => {
        if (columnsBytes > packed.length) packed = new Uint8Array(columnsBytes)
        return unpackNumbers(this.read(columnsFrom, columnsSum, packed.subarray(0, columnsBytes)), chunkRows, into)
      },
      place: () => (gone.has(this.file.path) ? undefined : place),
    }
  }

  private write(bytes: Uint8Array, from: number): void {
    const fd = fdOf(this.file)
    for (let at = 0; at < bytes.byteLength; ) at += writeSync(fd, bytes, at, bytes.byteLength - at, from + at)
  }

  /** Fills `bytes`. */
  private read(from: number, checksum: number, bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    const { length } = bytes
    try {
      const fd = fdOf(this.file)
      for (let at = 0; at < length; ) {
        const read = readSync(fd, bytes, at, length - at, from + at)
        if (read === 0) throw this.damaged(`the file ends at ${from + at}`)
        at += read
      }
      if (crc32(bytes) !== checksum) throw this.damaged('they do not match their checksum')
    } catch (error) {
      throw new Error(`rows of finished tasks cannot be read back from ${this.file.path}: ${(error as Error).message}. Check the disk and start the server again: it makes them from an older snapshot or the log`, { cause: error })
    }
    return bytes
  }

  /** Without the file, no start uses a snapshot that names it. */
  private damaged(words: string): Error {
    rmSync(this.file.path, { force: true })
    return new Error(words)
  }
}

const fdOf = ({ fd }: OpenFile): number => {
  if (fd === undefined) throw new Error('the file is closed')
  return fd
}
