/**
 * One log of all streams. The writer sees everything. Readers see only what has reached the disk
 * (`publish`), in the order of writing.
 */
import { RecentIds } from './recent-ids.js'
import {
  firstReadable, isMetastream, metadataOf, metadataOfMetastreams, metastreamOf, noMetadata, originalOf, type StreamMetadata,
} from './metadata.js'
import { recorded, streamIdentifier, tombstoneRevision, type LogEvent, type NewEvent } from './log-event.js'
import type { StreamFacts } from './decision.js'

/** The log entry of one write: its events, or only a gap if it had none. */
export interface LogWrite {
  readonly stream: string
  readonly position: number
  readonly end: number
  readonly events: ReadonlyArray<LogEvent>
}

export interface Stream {
  readonly name: string
  readonly identifier: Buffer
  readonly events: Array<LogEvent>
  visible: number
  tombstone: LogEvent | undefined
  tombstoneVisible: boolean
  metadata: StreamMetadata
  visibleMetadata: StreamMetadata
}

interface Entry {
  readonly position: number
  readonly event: LogEvent | undefined
}

/** A real log begins with internal records of the server. */
const firstPosition = 1024
/** Approximate size of a log record's header, lengths and checksums. */
const recordBytes = 90

export class Log {
  private readonly streams = new Map<string, Stream>()
  private readonly entries: Array<Entry> = []
  readonly recentIds: RecentIds
  /** Metastreams written since the start. The writer trusts its copy of these, without looking at the original stream. */
  private readonly remembered = new Set<string>()
  private readonly listeners = new Set<(event: LogEvent) => void>()
  private visibleCount = 0
  private endPosition = firstPosition
  private visibleEnd = firstPosition

  constructor(recentIdsBytesMax?: number) {
    this.recentIds = new RecentIds(recentIdsBytesMax)
  }

  readonly stream = (name: string): Stream | undefined => this.streams.get(name)

  private readonly open = (name: string): Stream => {
    const known = this.streams.get(name)
    if (known !== undefined) return known
    const made: Stream = {
      name, identifier: streamIdentifier(2, name), events: [], visible: -1,
      tombstone: undefined, tombstoneVisible: false, metadata: noMetadata, visibleMetadata: noMetadata,
    }
    this.streams.set(name, made)
    return made
  }

  // ------------------------------------------------------------------ the writer's view

  readonly head = (name: string): number => (this.streams.get(name)?.events.length ?? 0) - 1

  readonly tombstoned = (name: string): boolean =>
    this.streams.get(name)?.tombstone !== undefined
    || (isMetastream(name) && !this.remembered.has(name) && this.tombstoned(originalOf(name)))

  readonly softDeleted = (name: string): boolean =>
    (!isMetastream(name) || this.remembered.has(metastreamOf(name))) && this.streams.get(name)?.metadata.softDeleted === true

  readonly facts = (name: string): StreamFacts => {
    const stream = this.streams.get(name)
    return {
      head: this.head(name),
      visible: stream?.visible ?? -1,
      tombstoned: this.tombstoned(name),
      softDeleted: this.softDeleted(name),
      hasMetadata: this.head(metastreamOf(name)) >= 0,
      idAt: (revision) => stream?.events[revision]?.id,
      recent: (id) => this.recentIds.find(id, name),
    }
  }

  /** Adds a write. Readers see it after {@link publish}. */
  readonly add = (name: string, events: ReadonlyArray<NewEvent>, createdMs: number, tombstone = false): LogWrite => {
    const stream = this.open(name)
    const start = this.endPosition
    const added = events.map((event): LogEvent => {
      const revision = tombstone ? tombstoneRevision : stream.events.length
      // Written out instead of spread: this is the server's hottest code.
      const placed = {
        id: event.id, type: event.type, isJson: event.isJson, data: event.data, metadata: event.metadata,
        stream: name, revision, position: this.endPosition, createdMs,
      }
      const whole: LogEvent = Object.assign(placed, { recorded: recorded(placed, stream.identifier) })
      this.place(stream, whole)
      return whole
    })
    if (added.length === 0) this.skip(recordBytes + name.length)
    return { stream: name, position: added.at(-1)?.position ?? start, end: this.endPosition, events: added }
  }

  /** Restores a write that was read from disk. */
  readonly restore = (write: Omit<LogWrite, 'events'> & { readonly events: ReadonlyArray<Omit<LogEvent, 'recorded'>> }): void => {
    const stream = this.open(write.stream)
    for (const event of write.events) {
      this.endPosition = event.position
      this.place(stream, { ...event, recorded: recorded(event, stream.identifier) })
    }
    if (write.events.length === 0) {
      this.endPosition = write.position
      this.skip(0)
    }
    this.endPosition = write.end
    this.publish(write.end)
  }

  private skip(size: number): void {
    this.entries.push({ position: this.endPosition, event: undefined })
    this.endPosition += size
  }

  private place(stream: Stream, event: LogEvent): void {
    this.entries.push({ position: event.position, event })
    this.endPosition += recordBytes + event.recorded.length
    this.recentIds.put(event.id, stream.name, event.revision)
    if (event.revision === tombstoneRevision) stream.tombstone = event
    else stream.events.push(event)
    if (!isMetastream(stream.name)) return
    this.remembered.add(stream.name)
    // Readers look at the event's JSON flag; the writer tries to parse it.
    this.open(originalOf(stream.name)).metadata = metadataOf(event.data, true)
  }

  /** Forgets what the writer does not know after a restart. */
  readonly forget = (): void => {
    this.recentIds.clear()
    this.remembered.clear()
  }

  // ------------------------------------------------------------------ the readers' view

  /** Makes everything before `end` visible to readers. */
  readonly publish = (end: number): void => {
    while (this.visibleCount < this.entries.length) {
      const { position, event } = this.entries[this.visibleCount] as Entry
      if (position >= end) break
      this.visibleCount += 1
      if (event === undefined) continue
      const stream = this.open(event.stream)
      if (event.revision === tombstoneRevision) stream.tombstoneVisible = true
      else stream.visible = event.revision
      if (isMetastream(event.stream)) this.open(originalOf(event.stream)).visibleMetadata = metadataOf(event.data, event.isJson)
    }
    const before = this.visibleEnd
    this.visibleEnd = end
    if (this.listeners.size > 0) this.tell(before)
  }

  private tell(from: number): void {
    for (let index = this.indexOf(from) ?? this.visibleCount; index < this.visibleCount; index++) {
      const event = this.entries[index]?.event
      if (event !== undefined) for (const listener of this.listeners) listener(event)
    }
  }

  /** Calls `listener` with every event published from now on. */
  readonly listen = (listener: (event: LogEvent) => void): (() => void) => {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  readonly metadata = (name: string): StreamMetadata =>
    isMetastream(name) ? metadataOfMetastreams : (this.streams.get(name)?.visibleMetadata ?? noMetadata)

  readonly tombstoneVisible = (name: string): boolean =>
    this.streams.get(name)?.tombstoneVisible === true || (isMetastream(name) && this.tombstoneVisible(originalOf(name)))

  /** The event, if readers of the stream may see it. -1 means the last one. */
  readonly readable = (name: string, revision: number, nowMs: number): LogEvent | undefined => {
    const stream = this.streams.get(name)
    const metadata = this.metadata(name)
    if (stream === undefined || this.tombstoneVisible(name) || metadata.softDeleted) return undefined
    const wanted = revision === -1 ? stream.visible : revision
    if (wanted < firstReadable(metadata, stream.visible) || wanted > stream.visible) return undefined
    const event = stream.events[wanted]
    const expired = event !== undefined && metadata.maxAgeMs !== undefined && event.createdMs < nowMs - metadata.maxAgeMs
    return expired ? undefined : event
  }

  /** The end of the log for readers. */
  get end(): number {
    return this.visibleEnd
  }

  /** Number of log entries visible to readers. */
  get count(): number {
    return this.visibleCount
  }

  readonly at = (index: number): Entry | undefined => (index < this.visibleCount ? this.entries[index] : undefined)

  /** Index of the entry that starts at `position`; the number of entries for the end; undefined between entries. */
  readonly indexOf = (position: number): number | undefined => {
    if (position === 0) return 0
    let low = 0
    let high = this.visibleCount
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.entries[middle] as Entry).position < position) low = middle + 1
      else high = middle
    }
    if (low === this.visibleCount) return position === this.visibleEnd ? low : undefined
    return (this.entries[low] as Entry).position === position ? low : undefined
  }
}
