/**
 * Files for the rows of old finished tasks, which need not be in memory (ADR 52). They belong to this process alone: a file is deleted as soon as it is
 * open, so it has no name, nobody else can change it, and it is gone with the process, however that ends. No start reads one.
 *
 * A queue writes one file after the other. Rows leave from the front, so old files empty first: one is closed, and its space is free, when
 * nothing refers to its rows any more. Undo, walks and past states may refer to rows that have left, so that is told by the garbage collector.
 */
import { closeSync, openSync, readSync, readdirSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import type { KeptBytes, RowStore } from '@daybook/core'
import { isAlive } from './process-alive.js'

/** Bytes of a file, at least, unless it is the last one of a queue. */
const fileBytes = 2 ** 26
/** 2.6 MB in memory for tasks of 80 bytes. A queue that has not finished more than 32,768 tasks writes nothing. */
const newest = 64

export interface RowFiles {
  /** A place for the rows of one queue. */
  readonly storeOf: (queue: string) => RowStore
  /** Closes all files. Rows in them cannot be read any more. */
  readonly close: () => void
}

export interface RowFilesOptions {
  readonly warn: (message: string) => void
  /** Default: 64 chunks of 512 rows. */
  readonly newest?: number
  /** Default: 64 MiB. */
  readonly fileBytes?: number
}

/** An open file. `fd` is `undefined` when it is closed: the number may be another file's then. */
interface OpenFile {
  fd: number | undefined
}

export const openRowFiles = (dir: string, { warn, ...limits }: RowFilesOptions): RowFiles => {
  removeLeftovers(dir)
  const open = new Set<OpenFile>()
  const close = (file: OpenFile): void => {
    open.delete(file)
    if (file.fd !== undefined) closeSync(file.fd)
    file.fd = undefined
  }
  const unused = new FinalizationRegistry<OpenFile>(close)
  const newFile = (): RowFile => {
    const file = { fd: openUnnamed(dir) }
    const rows = new RowFile(file)
    open.add(file)
    unused.register(rows, file)
    return rows
  }
  let hasFailed = false
  const failed = (queue: string, error: unknown): void => {
    if (!hasFailed) warn(`rows of finished tasks of the queue ${queue} stay in memory, because they cannot be written in ${dir}: ${(error as Error).message}`)
    hasFailed = true
  }
  return {
    storeOf: (queue) => rowStore(newFile, limits, (error) => failed(queue, error)),
    close: () => [...open].forEach(close),
  }
}

const rowStore = (newFile: () => RowFile, limits: Omit<RowFilesOptions, 'warn'>, failed: (error: unknown) => void): RowStore => {
  let file: RowFile | undefined
  const keep: RowStore['keep'] = (bytes) => {
    try {
      if (file === undefined || file.bytes >= (limits.fileBytes ?? fileBytes)) file = newFile()
      return file.append(bytes)
    } catch (error) {
      failed(error)
      return undefined
    }
  }
  return { newest: limits.newest ?? newest, keep }
}

class RowFile {
  /** Bytes that are written. */
  bytes = 0

  constructor(private readonly file: OpenFile) {}

  /** @throws Error if not all bytes can be written. What was written of them is overwritten by the next ones. */
  append(bytes: Uint8Array): KeptBytes {
    const from = this.bytes
    const fd = fdOf(this.file)
    for (let at = 0; at < bytes.byteLength; ) at += writeSync(fd, bytes, at, bytes.byteLength - at, from + at)
    this.bytes += bytes.byteLength
    return new RowsInFile(this, from, bytes.byteLength, crc32(bytes))
  }

  read(from: number, length: number, checksum: number): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(length)
    try {
      const fd = fdOf(this.file)
      for (let at = 0; at < length; ) {
        const read = readSync(fd, bytes, at, length - at, from + at)
        if (read === 0) throw new Error(`the file ends at ${from + at}`)
        at += read
      }
      if (crc32(bytes) !== checksum) throw new Error('they do not match their checksum')
    } catch (error) {
      throw new Error(`rows of finished tasks cannot be read back from disk: ${(error as Error).message}. Check the disk and start the server again: it makes them from the snapshot and the log`, { cause: error })
    }
    return bytes
  }
}

class RowsInFile implements KeptBytes {
  constructor(
    /** As long as somebody refers to this, the file stays open. */
    private readonly file: RowFile,
    private readonly from: number,
    private readonly length: number,
    private readonly checksum: number,
  ) {}

  read(): Uint8Array<ArrayBuffer> {
    return this.file.read(this.from, this.length, this.checksum)
  }
}

const fdOf = ({ fd }: OpenFile): number => {
  if (fd === undefined) throw new Error('the file is closed')
  return fd
}

let serial = 0

const openUnnamed = (dir: string): number => {
  const path = join(dir, `finished-${process.pid}-${serial++}.rows`)
  const fd = openSync(path, 'wx+', 0o600)
  try {
    rmSync(path)
  } catch {
    // A system that cannot delete an open file: the next start does.
  }
  return fd
}

/** Files of processes that were killed between opening and deleting. */
const removeLeftovers = (dir: string): void => {
  for (const name of readdirSync(dir)) {
    const pid = /^finished-(\d+)-\d+\.rows$/.exec(name)?.[1]
    if (pid !== undefined && (Number(pid) === process.pid || !isAlive(Number(pid)))) rmSync(join(dir, name), { force: true })
  }
}
