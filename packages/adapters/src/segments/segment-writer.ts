/** Writes a segment. The file gets its final name only when it is complete and on disk. */
import { randomBytes } from 'node:crypto'
import { open, type FileHandle, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { gzip as gzipCallback } from 'node:zlib'
import { lastSealIn } from '../seals/index.js'
import { syncPath } from '../disk/sync-path.js'
import type { RecordedEvent } from '../store/index.js'
import type { SegmentFile } from './segment-folder.js'
import { type BlockPlace, eventLine, headerLine, indexLine, type SealPlace, segmentEnd, segmentName, sha256Of, formatVersion } from './segment-format.js'

const gzip = promisify(gzipCallback)
const ending = '.unfinished'

/** Size of the text in a block in bytes, uncompressed (ADR 45). */
const blockBytesDefault = 256 * 1024

/** Synced after this many bytes: syncing some hundred megabytes at the end would keep others waiting. */
const unsyncedMax = 16 * 2 ** 20

export interface SegmentBeginning {
  readonly folder: string
  readonly stream: string
  readonly from: number
  /** The last seal of the log before `from`. */
  readonly sealBefore: SealPlace
  /** The SHA-256 of the previous segment. */
  readonly previous: string | null
  readonly blockBytes?: number
}

export class SegmentWriter {
  private readonly blocks: Array<BlockPlace> = []
  private lines: Array<string> = []
  private lineBytes = 0
  private textBytes = 0
  private offset = 0
  private unsynced = 0
  private next: number
  private blockFrom: number
  private firstCreated = ''
  private lastCreated = ''
  private seal: SealPlace

  private constructor(
    private readonly beginning: SegmentBeginning,
    private readonly handle: FileHandle,
    private readonly unfinished: string,
  ) {
    this.next = this.blockFrom = beginning.from
    this.seal = beginning.sealBefore
  }

  static async begin(beginning: SegmentBeginning): Promise<SegmentWriter> {
    const unfinished = join(beginning.folder, `${segmentName(beginning.from, beginning.from)}.${randomBytes(6).toString('hex')}${ending}`)
    return new SegmentWriter(beginning, await open(unfinished, 'wx', 0o644), unfinished)
  }

  /** Size of all texts so far. */
  get bytes(): number {
    return this.textBytes
  }

  /** Writes events. They must follow the previous ones without a gap. */
  async write(events: ReadonlyArray<RecordedEvent>): Promise<void> {
    const { blockBytes = blockBytesDefault } = this.beginning
    for (const event of events) {
      if (event.revision !== this.next) throw new Error(`revision ${event.revision} comes where ${this.next} should`)
      if (this.next === this.beginning.from) this.firstCreated = event.created
      this.next++
      this.lastCreated = event.created
      const line = eventLine(event)
      this.lines.push(line)
      const bytes = Buffer.byteLength(line)
      this.lineBytes += bytes
      this.textBytes += bytes
      if (this.lineBytes >= blockBytes) await this.endBlock()
    }
    this.seal = lastSealIn(events) ?? this.seal
  }

  /** Ends the segment. Returns the file, which is then durable. */
  async commit(): Promise<SegmentFile> {
    const { folder, stream, from, sealBefore, previous } = this.beginning
    if (this.lines.length > 0) await this.endBlock()
    if (this.blocks.length === 0) throw new Error('A segment needs at least one event.')
    const to = this.next - 1
    const { blocks, textBytes } = this
    const line = indexLine({
      version: formatVersion, stream, from, to, times: { from: this.firstCreated, to: this.lastCreated }, seals: { before: sealBefore, after: this.seal }, previous, textBytes, blocks,
    })
    const index = await gzip(line)
    const indexOffset = this.offset
    await this.append(index)
    await this.append(segmentEnd(indexOffset, sha256Of(index)))
    await this.handle.sync()
    await this.handle.close()
    const path = join(folder, segmentName(from, to))
    await rename(this.unfinished, path)
    await syncPath(folder)
    await syncPath(dirname(folder))
    return { path, from, to }
  }

  async abort(): Promise<void> {
    await this.handle.close().catch(() => undefined)
    await rm(this.unfinished, { force: true })
  }

  private async endBlock(): Promise<void> {
    const { stream, from } = this.beginning
    const events = this.lines.length
    const text = this.lines.join('')
    const bytes = await gzip(this.blocks.length === 0 ? headerLine(stream, from) + text : text)
    this.blocks.push({ revision: this.blockFrom, events, offset: this.offset, bytes: bytes.length, sha256: sha256Of(bytes).toString('base64url') })
    this.blockFrom += events
    this.lines = []
    this.lineBytes = 0
    await this.append(bytes)
  }

  private async append(bytes: Buffer): Promise<void> {
    await this.handle.appendFile(bytes)
    this.offset += bytes.length
    this.unsynced += bytes.length
    if (this.unsynced < unsyncedMax) return
    await this.handle.datasync()
    this.unsynced = 0
  }
}

/** Removes unfinished files of a crashed run. No other process may be writing there. */
export const removeUnfinished = async (folder: string): Promise<void> => {
  for (const name of await readdir(folder)) if (name.endsWith(ending)) await rm(join(folder, name), { force: true })
}
