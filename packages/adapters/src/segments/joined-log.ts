/** Joins segments and a store into one log: archived events are read from their segments, all others from the store. */
import { type EventStore, type LogReader, type ReadOptions, type RecordedEvent, StoreError } from '../store/index.js'
import { readSpan } from '../store/read-span.js'
import { SegmentFolder } from './segment-folder.js'

/** A log whose beginning may be archived. */
type TrimmedLog = LogReader & Pick<EventStore, 'first'>

export const mayBeMoved = (error: unknown): boolean => error instanceof StoreError && (error.code === 'damaged' || error.code === 'truncated')

/** The reading methods over both. For events in the store they cost no more than the store's own. */
export const joinedReader = <L extends TrimmedLog>(log: L, segments: SegmentFolder): Pick<L, 'read' | 'pick'> & Readonly<Record<'firstOf' | 'ask', (stream: string) => Promise<number>>> => {
  /** The known value of `first` for each stream, so that the store need not be asked for each read. */
  const known = new Map<string, number>()

  const ask = async (stream: string): Promise<number> => {
    const first = await log.first(stream)
    known.set(stream, first)
    return first
  }
  const firstOf = async (stream: string): Promise<number> => known.get(stream) ?? ask(stream)

  const read = async function* (stream: string, options: ReadOptions = {}): AsyncGenerator<ReadonlyArray<RecordedEvent>, void, undefined> {
    const { from, direction = 'forwards' } = options
    const backwards = direction === 'backwards'
    let first = await firstOf(stream)
    /** Whether the read failed because events were archived meanwhile. */
    const wereMoved = async (error: unknown): Promise<boolean> => {
      const before = first
      if (mayBeMoved(error)) first = await ask(stream)
      return first > before
    }
    let last: number | undefined
    if (first === 0 || (!backwards && typeof from === 'number' && from >= first)) {
      try {
        for await (const page of log.read(stream, options)) {
          last = page[page.length - 1]?.revision
          yield page
        }
        return
      } catch (error) {
        if (!(await wereMoved(error))) throw error
      }
    }
    const span = readSpan(stream, options, await log.head(stream))
    if (span === undefined) return
    let low = backwards ? span.low : (last ?? span.low - 1) + 1
    let high = backwards ? (last ?? span.high + 1) - 1 : span.high
    while (low <= high) {
      if (backwards ? high < first : low < first) {
        const end = Math.min(high, first - 1)
        yield* segments.pages(stream, low, end, backwards)
        if (backwards) return
        low = end + 1
        continue
      }
      const bottom = Math.max(low, first)
      try {
        for await (const page of log.read(stream, { from: backwards ? high : low, direction, limit: high - bottom + 1 })) {
          yield page
          if (backwards) high -= page.length
          else low += page.length
        }
        // The store has no more events; the caller notices by counting.
        if (!backwards || bottom === low) return
      } catch (error) {
        if (!(await wereMoved(error))) throw error
      }
    }
  }

  const pick: LogReader['pick'] = async (stream, revisions) => {
    const pickOf = async (first: number): Promise<ReadonlyArray<RecordedEvent | undefined>> => {
      const isHere = (revision: number): boolean => revision >= first || !Number.isInteger(revision) || revision < 0
      if (revisions.every(isHere)) return log.pick(stream, revisions)
      const wanted = revisions.filter(isHere)
      // Archived events need no call to the store, which may be away.
      const here = wanted.length === 0 ? [] : await log.pick(stream, wanted)
      const found: Array<RecordedEvent | undefined> = []
      let next = 0
      for (const revision of revisions) found.push(isHere(revision) ? here[next++] : await segments.pick(stream, revision))
      return found
    }
    const first = await firstOf(stream)
    try {
      const found = await pickOf(first)
      if (!found.includes(undefined)) return found
    } catch (error) {
      if (!mayBeMoved(error)) throw error
      const now = await ask(stream)
      if (now === first) throw error
      return pickOf(now)
    }
    return pickOf(await ask(stream))
  }

  return { read, pick, firstOf, ask }
}

/** A log for reading, with its archive. */
export const joinedLog = <L extends TrimmedLog>(log: L, archive: string): L => {
  const { read, pick } = joinedReader(log, new SegmentFolder(archive))
  return { ...log, read, pick }
}
