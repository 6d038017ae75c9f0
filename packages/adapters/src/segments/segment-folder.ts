/**
 * The segments of an archive, by stream:
 *
 *     ARCHIVE/taskqueue-QUEUE/000000000000-000000499999.jsonl.gz
 *     ARCHIVE/taskqueue-QUEUE/000000500000-…
 *
 * They are contiguous, from revision 0. Names tell the revisions, so that only files that are needed are opened.
 */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ifMissing } from '../disk/if-missing.js'
import { LostEvents, type RecordedEvent } from '../store/index.js'
import { openSegment, type Segment } from './segment.js'
import { missingSegment } from './segment-error.js'
import { type BlockPlace, readSegmentName } from './segment-format.js'

export interface SegmentFile {
  readonly path: string
  readonly from: number
  readonly to: number
}

export const streamFolder = (archive: string, stream: string): string => join(archive, encodeURIComponent(stream))

/** The segments of a stream, in order. Empty if there is no such folder. */
export const listSegments = async (archive: string, stream: string): Promise<ReadonlyArray<SegmentFile>> => {
  const folder = streamFolder(archive, stream)
  const names = await readdir(folder).catch(ifMissing)
  return names
    .flatMap((name) => {
      const range = readSegmentName(name)
      return range === undefined ? [] : [{ path: join(folder, name), ...range }]
    })
    .sort((a, b) => a.from - b.from)
}

/** Number of decompressed blocks in memory. Contents of tasks are read one by one, and often lie in the same block. */
const blocksKept = 8
/** Number of segments whose index is kept in memory. */
const segmentsKept = 16

/** Keeps the `max` most recently used entries. */
class Recent<V> {
  private readonly entries = new Map<string, V>()

  constructor(private readonly max: number) {}

  get(key: string, make: () => V): V {
    const value = this.entries.get(key) ?? make()
    this.entries.delete(key)
    this.entries.set(key, value)
    if (this.entries.size > this.max) this.entries.delete(this.entries.keys().next().value as string)
    return value
  }

  drop(key: string): void {
    this.entries.delete(key)
  }
}

/** Reads the segments of an archive folder, which need not exist. All its methods reject with LostEvents if a segment is damaged or missing. */
export class SegmentFolder {
  private readonly files = new Map<string, ReadonlyArray<SegmentFile>>()
  private readonly opened = new Recent<Promise<Segment>>(segmentsKept)
  private readonly blocks = new Recent<Promise<ReadonlyArray<RecordedEvent>>>(blocksKept)

  constructor(readonly folder: string) {}

  /** The events `low` to `high` of a stream, block by block; with `backwards`, the last first. */
  async *pages(stream: string, low: number, high: number, backwards = false): AsyncGenerator<ReadonlyArray<RecordedEvent>, void, undefined> {
    for (let [from, to] = [low, high]; from <= to; ) {
      const events = await this.around(stream, backwards ? to : from, from, to, false)
      const wanted = events.filter(({ revision }) => revision >= from && revision <= to)
      if (backwards) to = (wanted[0] as RecordedEvent).revision - 1
      else from = (wanted[wanted.length - 1] as RecordedEvent).revision + 1
      yield backwards ? wanted.reverse() : wanted
    }
  }

  async pick(stream: string, revision: number): Promise<RecordedEvent> {
    const events = await this.around(stream, revision, revision, revision, true)
    return events[revision - (events[0] as RecordedEvent).revision] as RecordedEvent
  }

  /** The block with this revision. `low` and `high`: the wanted range, for messages. */
  private async around(stream: string, revision: number, low: number, high: number, isKept: boolean): Promise<ReadonlyArray<RecordedEvent>> {
    const file = await this.fileOf(stream, revision, low, high)
    try {
      return await this.blockOf(stream, revision, file, isKept)
    } catch (error) {
      if (!(error instanceof LostEvents) || error.code !== 'truncated') throw error
      // The file was moved away after it was listed.
      this.files.delete(stream)
      this.opened.drop(file.path)
      return await this.blockOf(stream, revision, await this.fileOf(stream, revision, low, high), isKept)
    }
  }

  private async blockOf(stream: string, revision: number, file: SegmentFile, isKept: boolean): Promise<ReadonlyArray<RecordedEvent>> {
    const { path } = file
    const segment = await kept(this.opened, path, () => openSegment(path, { stream, ...file }))
    const place = segment.index.blocks.findLast((block) => block.revision <= revision) as BlockPlace
    return isKept ? kept(this.blocks, `${path} ${place.offset}`, () => segment.block(place)) : segment.block(place)
  }

  private async fileOf(stream: string, revision: number, low: number, high: number): Promise<SegmentFile> {
    const find = (files: ReadonlyArray<SegmentFile>): SegmentFile | undefined => files.find(({ from, to }) => from <= revision && revision <= to)
    const known = find(this.files.get(stream) ?? [])
    if (known !== undefined) return known
    // There may be new segments by now.
    const files = await listSegments(this.folder, stream)
    this.files.set(stream, files)
    const found = find(files)
    if (found !== undefined) return found
    const before = files.filter(({ to }) => to < revision).at(-1)?.to ?? -1
    const after = files.find(({ from }) => from > revision)?.from ?? high + 1
    throw missingSegment(this.folder, stream, Math.max(low, before + 1), Math.min(high, after - 1))
  }
}

/** Failures are not cached, because the file may come back. */
const kept = <V>(recent: Recent<Promise<V>>, key: string, make: () => Promise<V>): Promise<V> =>
  recent.get(key, () => {
    const made = make()
    made.catch(() => recent.drop(key))
    return made
  })
