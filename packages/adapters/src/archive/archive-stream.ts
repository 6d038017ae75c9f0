/**
 * Moves the oldest events of a stream into segments:
 *
 *     write a segment ─▶ sync, rename ─▶ read it back, compare each event with the store's ─▶ remove them from the store, in steps ─▶ the next one
 *
 * Events leave the store only when their segment is on disk and was read back. So at any moment each event is in the store, in a segment or in both;
 * readers take events that the store no longer has from the segments. The next run completes a run that was interrupted anywhere.
 */
import { rm } from 'node:fs/promises'
import { makeDurableFolder } from '../disk/make-folder.js'
import { readSeal } from '../seals/index.js'
import { type OpenedLog, type RecordedEvent, StoreError } from '../store/index.js'
import { openSegment, type Segment } from '../segments/segment.js'
import { damagedSegment, missingSegment } from '../segments/segment-error.js'
import { listSegments, type SegmentFile, streamFolder } from '../segments/segment-folder.js'
import { removeUnfinished, SegmentWriter } from '../segments/segment-writer.js'

/** A store whose oldest events can be removed. */
export interface TrimmableStore {
  /** The store's own log, without its archive. */
  readonly log: OpenedLog
  /** Removes some of the oldest events before a revision, durably and in one step. Returns the first revision that is left. */
  readonly remove: (stream: string, before: number) => Promise<number>
}

export interface ArchiveProgress {
  readonly step: 'writing' | 'verifying' | 'removing'
  /** The last revision of this step so far. */
  readonly revision: number
}

export interface ArchiveOptions {
  /** The folder of the archive. It is created if necessary. */
  readonly archive: string
  /** The largest number of events in a segment, and of bytes of their texts. The last append may exceed the bytes. */
  readonly segmentEventsMax?: number
  readonly segmentBytesMax?: number
  readonly blockBytes?: number
  readonly progress?: (progress: ArchiveProgress) => void
}

const segmentEventsDefault = 500_000
const segmentBytesDefault = 512 * 2 ** 20

/** Where the events of a stream are, and where it would be cut. */
export interface ArchivePlan {
  /** The last revision. */
  readonly head: number
  /** The first revision in the store. */
  readonly first: number
  /** The first revision that is in no segment. Earlier events that are also in the store are left over from an interrupted run. */
  readonly archived: number
  /** The first revision that will stay in the store. */
  readonly cut: number
}

/**
 * @param before The first revision that is to stay. The last event stays in any case.
 * @throws LostEvents if segments are missing or overlap.
 */
export const planArchive = async (log: OpenedLog, archive: string, stream: string, before: number): Promise<ArchivePlan> => {
  const [head, first, files] = [await log.head(stream), await log.first(stream), await listSegments(archive, stream)]
  let archived = 0
  for (const { path, from, to } of files) {
    if (from > archived) throw missingSegment(streamFolder(archive, stream), stream, archived, from - 1)
    if (from < archived || to < from) throw damagedSegment(path, from, to, `it overlaps the one before, which ends with ${archived - 1}`, undefined, 'if it is a copy, remove it; if not, bring the segments back from a backup')
    archived = to + 1
  }
  if (archived < first) throw missingSegment(streamFolder(archive, stream), stream, archived, first - 1)
  if (archived > head + 1) throw new StoreError('damaged', `The segments of ${stream} in ${archive} go beyond the log, which ends at revision ${head}: it was restored from an older backup. Move them away, or restore a newer one.`)
  const target = Math.min(before, head)
  const sealed = (await opened(files.at(-1), stream))?.index.seals.after?.revision === archived - 1
  const end = archived < target ? await lastSealed(log, stream, archived, target - 1, sealed) : target - 1
  return { head, first, archived, cut: Math.max(first, archived, end + 1) }
}

/**
 * The last event up to `to` that ends an append, so that a segment has whole appends; `to` if none is known nearby.
 *
 * @param isSealed Whether the event before `from` ends an append.
 */
const lastSealed = async (log: OpenedLog, stream: string, from: number, to: number, isSealed: boolean): Promise<number> => {
  for await (const page of log.read(stream, { from: to, direction: 'backwards', limit: Math.min(appendMax, to - from + 1) })) {
    const found = page.find(({ metadata }) => readSeal(metadata) !== undefined)
    if (found !== undefined) return found.revision
  }
  return isSealed && to - from < appendMax ? from - 1 : to
}

/** The largest number of events in an append. */
const appendMax = 10_000

/** Carries out a plan. Returns the segments that it wrote or whose events it removed. */
export const archiveStream = async (store: TrimmableStore, stream: string, { first, archived, cut }: ArchivePlan, options: ArchiveOptions): Promise<ReadonlyArray<Segment>> => {
  const { archive } = options
  const { log } = store
  const folder = streamFolder(archive, stream)
  // Each by itself, because only the folder that is named gets the permissions for its owner alone.
  makeDurableFolder(archive)
  makeDurableFolder(folder)
  await removeUnfinished(folder)
  const done: Array<Segment> = []
  const files = await listSegments(archive, stream)
  let previous = await opened(files.at(-1), stream)
  // Completes a run that was interrupted between writing and removing.
  for (const file of files.filter(({ to }) => to >= first)) {
    const segment = await openSegment(file.path, { stream, ...file })
    await compare(log, segment, Math.max(first, file.from), options)
    await removeUpTo(store, stream, file.to, options)
    done.push(segment)
  }
  for (let from = archived; from < cut; ) {
    const segment = await writeSegment(log, { stream, folder, from, to: await endOf(log, stream, from, cut, options), previous }, options)
    try {
      await compare(log, segment, from, options)
    } catch (error) {
      // The store still has all events of this segment.
      await rm(segment.file)
      throw error
    }
    await removeUpTo(store, stream, segment.index.to, options)
    done.push(segment)
    previous = segment
    from = segment.index.to + 1
  }
  return done
}

const opened = (file: SegmentFile | undefined, stream: string): Promise<Segment | undefined> => (file === undefined ? Promise.resolve(undefined) : openSegment(file.path, { stream, ...file }))

const endOf = async (log: OpenedLog, stream: string, from: number, cut: number, { segmentEventsMax = segmentEventsDefault }: ArchiveOptions): Promise<number> => {
  const last = from + segmentEventsMax - 1
  return last >= cut - 1 ? cut - 1 : lastSealed(log, stream, from, last, false)
}

interface Wanted {
  readonly stream: string
  readonly folder: string
  readonly from: number
  readonly to: number
  readonly previous: Segment | undefined
}

const writeSegment = async (log: OpenedLog, { stream, folder, from, to, previous }: Wanted, { blockBytes, segmentBytesMax = segmentBytesDefault, progress }: ArchiveOptions): Promise<Segment> => {
  const writer = await SegmentWriter.begin({
    folder, stream, from, sealBefore: previous?.index.seals.after ?? null, previous: previous?.hash ?? null, ...(blockBytes === undefined ? {} : { blockBytes }),
  })
  try {
    for await (const page of log.read(stream, { from, limit: to - from + 1 })) {
      const end = endWithin(page, segmentBytesMax - writer.bytes)
      await writer.write(end === undefined ? page : page.slice(0, end))
      progress?.({ step: 'writing', revision: page[(end ?? page.length) - 1]?.revision ?? from })
      if (end !== undefined) break
    }
    const file = await writer.commit()
    return await openSegment(file.path, { stream, from: file.from, to: file.to })
  } catch (error) {
    await writer.abort()
    throw error
  }
}

/**
 * Where the segment ends if it has room for this many bytes: after the first whole append that exceeds them. `undefined` if the segment goes on. An
 * append without a seal ends only with its page.
 */
const endWithin = (page: ReadonlyArray<RecordedEvent>, room: number): number | undefined => {
  let bytes = 0
  for (const [i, { data, metadata }] of page.entries()) {
    bytes += data.length + metadata.length
    if (bytes >= room && readSeal(metadata) !== undefined) return i + 1
  }
  return bytes >= room && !page.some(({ metadata }) => readSeal(metadata) !== undefined) ? page.length : undefined
}

/** Compares the segment on disk with the events in the store, from a revision on. */
const compare = async (log: OpenedLog, { file, index, block }: Segment, from: number, { progress }: ArchiveOptions): Promise<void> => {
  const { stream, to, blocks } = index
  const ofStore = eventsOf(log, stream, from, to)
  try {
    for (const place of blocks) {
      for (const event of await block(place)) {
        if (event.revision < from) continue
        const { value: own } = await ofStore.next()
        if (own === undefined || !isSame(event, own)) throw damagedSegment(file, event.revision, to, 'it is not what the store has. Nothing was removed. Move it away, and run again')
      }
      progress?.({ step: 'verifying', revision: place.revision + place.events - 1 })
    }
  } finally {
    await ofStore.return(undefined)
  }
}

const eventsOf = async function* (log: OpenedLog, stream: string, from: number, to: number): AsyncGenerator<RecordedEvent, undefined, undefined> {
  for await (const page of log.read(stream, { from, limit: to - from + 1 })) yield* page
  return undefined
}

const isSame = (a: RecordedEvent, b: RecordedEvent): boolean =>
  a.revision === b.revision && a.id === b.id && a.type === b.type && a.data === b.data && a.metadata === b.metadata && a.created === b.created && a.position === b.position

const removeUpTo = async ({ remove }: TrimmableStore, stream: string, to: number, { progress }: ArchiveOptions): Promise<void> => {
  for (let left = -1; left <= to; ) {
    const next = await remove(stream, to + 1)
    if (next <= left) throw new StoreError('unavailable', `The events up to ${to} of ${stream} cannot be removed from the store: run again.`)
    left = next
    progress?.({ step: 'removing', revision: left - 1 })
  }
}
