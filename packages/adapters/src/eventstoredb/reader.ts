/** Reads page by page. Each call is tried again a limited number of times. A gap in the revisions is an error. */
import { StoreError, type EventStore, type ReadOptions, type RecordedEvent } from '../store/index.js'
import { readSpan } from '../store/read-span.js'
import { backoff, sleep } from '@daybook/client/common'
import { closedError, type Connection, type Link } from './connection.js'
import { EndedEarly, isWorthRetrying, NoAnswer, storeError } from './errors.js'
import { readCall } from './read-call.js'
import { pageRequest } from './read-request.js'
import { rangesOf } from './ranges.js'

export interface ReaderOptions {
  readonly name: string
  readonly pageEvents: number
  readonly silenceMs: number
  readonly readMs: number
  readonly random: () => number
}

export interface Reader extends Pick<EventStore, 'read' | 'head' | 'first' | 'pick'> {
  /** Ends the calls in flight. Their readers fail with `closed`. */
  readonly close: () => void
}

/** Number of tries of a failing call, over four to eight seconds: long enough to notice a dead leader and to elect another. */
const tries = 14
/** Number of tries of a call that returns no events where there should be some, over one to two seconds. After that the events count as removed. */
const emptyTries = 8
/** The time without an event is counted in this many steps, so that a process that stood still for longer does not give up at once. */
const readSteps = 5
/** A page of large events ends early. */
const pageBytesMax = 4 * 2 ** 20
/** Number of calls of one `pick` that are in flight at once. */
const picksAtOnce = 8

interface Page {
  readonly events: Array<RecordedEvent>
  readonly missing: boolean
}

interface Fetch {
  readonly page: Promise<Page>
  readonly cancel: () => void
}

type Direction = NonNullable<ReadOptions['direction']>

export const createReader = (connection: Connection, options: ReaderOptions): Reader => {
  const { name, pageEvents, silenceMs, readMs, random } = options
  const underWay = new Set<() => void>()
  let closed = false

  const attempt = async (
    stream: string,
    from: number | 'end',
    direction: Direction,
    count: number,
    onCall: (link: Link, cancel: () => void) => void,
    onEvent: () => void,
  ): Promise<Page> => {
    const link = await connection.link()
    return new Promise((resolve, reject) => {
      const events: Array<RecordedEvent> = []
      let bytes = 0
      let missing = false
      const stop = readCall(connection, link, stream, pageRequest(stream, from, direction, count), silenceMs, {
        event: (event) => {
          events.push(event)
          onEvent()
          bytes += event.data.length + event.metadata.length
          if (bytes <= pageBytesMax) return
          stop()
          resolve({ events, missing })
        },
        missing: () => (missing = true),
        end: (error) => (error === undefined ? resolve({ events, missing }) : reject(error as Error)),
      })
      onCall(link, () => {
        stop()
        reject(closedError())
      })
    })
  }

  /**
   * Rejects when no event has come for `readMs`, over all tries, because somebody waits for the answer. Until the store has answered for the first time,
   * only the number of tries is limited: a start finds a cluster even if some of its nodes do not answer. `silence`: counted here, and set to 0 by each
   * event.
   */
  const inTime = <A>(work: Promise<A>, silence: { steps: number }, giveUp: () => Error): Promise<A> => {
    if (connection.time() === undefined) return work
    let clock: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      clock = setInterval(() => {
        if (++silence.steps >= readSteps) reject(giveUp())
      }, readMs / readSteps)
    })
    return Promise.race([work, late]).finally(() => clearInterval(clock))
  }

  /** Only existing revisions are asked for. An empty page ended too early, or its events were removed. */
  const fetch = (stream: string, from: number | 'end', direction: Direction, count: number): Fetch => {
    let cancelled = false
    let stop = (): void => undefined
    let asked: Link | undefined
    const silence = { steps: 0 }
    let failure: unknown = new NoAnswer(`no answer within ${readMs} ms`)
    const cancel = (): void => {
      cancelled = true
      stop()
    }
    const run = async (): Promise<Page> => {
      const pause = backoff({ firstMs: 20, mostMs: 1_000, random })
      for (let tried = 1; ; tried++) {
        if (closed || cancelled) throw closedError()
        try {
          const onCall = (link: Link, how: () => void): void => {
            asked = link
            stop = how
          }
          const page = await attempt(stream, from, direction, count, onCall, () => (silence.steps = 0)).finally(() => (asked = undefined))
          if (page.events.length > 0 || page.missing) return page
          throw new EndedEarly()
        } catch (error) {
          if (closed || cancelled) throw closedError()
          if (error instanceof EndedEarly && tried >= emptyTries) throw truncated(name, stream, from === 'end' ? 'none can be read' : `nothing at revision ${from}`)
          if (tried >= tries || !isWorthRetrying(error)) throw storeError(error, name, stream)
          failure = error
        }
        await sleep(pause.next())
      }
    }
    underWay.add(cancel)
    const page = inTime(run(), silence, () => {
      // The connection may be dead. The next read opens another one.
      if (asked !== undefined) connection.abandon(asked)
      cancel()
      return storeError(failure, name, stream)
    }).finally(() => underWay.delete(cancel))
    // The page was read ahead and may no longer have a reader.
    page.catch(() => undefined)
    return { page, cancel }
  }

  /** A missing stream was deleted, or never existed. Its metadata tells which. */
  const head = async (stream: string): Promise<number> => {
    const { events, missing } = await fetch(stream, 'end', 'backwards', 1).page
    if (!missing) return events[0]!.revision
    const metadata = await fetch(`$$${stream}`, 'end', 'backwards', 1).page
    if (!metadata.events.some(({ data }) => data.includes('"$tb"'))) return -1
    throw deleted(name, stream)
  }

  /** A page of a stream that has a head. If the stream is missing now, it was deleted meanwhile. */
  const eventsOf = async (stream: string, { page }: Fetch): Promise<ReadonlyArray<RecordedEvent>> => {
    const { events, missing } = await page
    if (missing) throw deleted(name, stream)
    return events
  }

  /** A read that starts before the first visible event starts at that event. */
  const first = async (stream: string): Promise<number> => {
    if ((await head(stream)) < 0) return 0
    const [event] = await eventsOf(stream, fetch(stream, 0, 'forwards', 1))
    return event?.revision ?? 0
  }

  const read = async function* (
    stream: string,
    options: ReadOptions = {},
  ): AsyncGenerator<ReadonlyArray<RecordedEvent>, void, undefined> {
    const span = readSpan(stream, options, await head(stream))
    if (span === undefined) return
    const { direction = 'forwards' } = options
    const step = direction === 'forwards' ? 1 : -1
    const last = step > 0 ? span.high : span.low
    let next = step > 0 ? span.low : span.high
    const fetchNext = (): Fetch => fetch(stream, next, direction, Math.min(pageEvents, Math.abs(last - next) + 1))
    let ahead: Fetch | undefined = fetchNext()
    try {
      while (ahead !== undefined) {
        const events = await eventsOf(stream, ahead)
        if (closed) throw closedError()
        for (const { revision } of events) {
          if (revision !== next) throw truncated(name, stream, `${revision} comes where ${next} should`)
          next += step
        }
        ahead = (last - next) * step >= 0 ? fetchNext() : undefined
        yield events
      }
    } finally {
      ahead?.cancel()
    }
  }

  const pick: EventStore['pick'] = async (stream, revisions) => {
    const end = await head(stream)
    const found = new Map<number, RecordedEvent>()
    const ranges = rangesOf(revisions.filter((revision) => revision >= 0 && revision <= end))
    const pickRange = async (low: number, high: number): Promise<void> => {
      for (let from = low; from <= high; ) {
        const events = await eventsOf(stream, fetch(stream, from, 'forwards', Math.min(pageEvents, high - from + 1)))
        for (const event of events) found.set(event.revision, event)
        from = (events.at(-1)?.revision ?? high) + 1
      }
    }
    const workers = Array.from({ length: Math.min(picksAtOnce, ranges.length) }, async () => {
      for (let range = ranges.pop(); range !== undefined; range = ranges.pop()) await pickRange(...range)
    })
    await Promise.all(workers)
    return revisions.map((revision) => found.get(revision))
  }

  return {
    read,
    head,
    first,
    pick,
    close: () => {
      closed = true
      for (const cancel of [...underWay]) cancel()
    },
  }
}

const deleted = (name: string, stream: string): StoreError =>
  new StoreError('deleted', `The stream ${stream} in ${name} was deleted by an administrator: restore it there before it is used again.`)

export const truncated = (name: string, stream: string, what: string): StoreError =>
  new StoreError(
    'truncated',
    `Events of the stream ${stream} in ${name} are gone (${what}): it was truncated or deleted, or has a $maxCount or $maxAge. Take $tb, $maxCount and $maxAge out of its metadata again, or start with a --data folder whose snapshot covers what is gone.`,
  )
