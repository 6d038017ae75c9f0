/** The parts of the log that may have events of an actor or a correlation id. */
import type { QueueView } from '../queue-view.js'
import { streamOf } from '../state/replay.js'

export interface CauseQuestion {
  readonly queue: string
  readonly actor?: string | undefined
  readonly correlationId?: string | undefined
  /** Revisions, both inclusive. */
  readonly from: number
  readonly until: number
  /** The largest number of spans. */
  readonly limit: number
}

/** The answer of an index of causes. */
export interface Caused {
  /** The last revision in the index, and the id of that event. */
  readonly revision: number
  readonly eventId: string
  /** First and last revisions, in order. All matching events up to `revision` are within these spans. The first span may begin before `from`. */
  readonly spans: ReadonlyArray<readonly [first: number, last: number]>
  readonly isMore: boolean
}

/** `undefined` if there is no such index. */
export type FindCauses = (question: CauseQuestion) => Promise<Caused | undefined>

const spansAtOnce = 1_000
/** Spans with at most this many events between them are read as one. */
const gapMax = 50

/** Where to look for the events, in order, and up to where the index reaches: the rest is one span. Without an index, the whole range is one span. */
export const spansOf = async function* (
  { name, log, causes }: Pick<QueueView, 'name' | 'log' | 'causes'>,
  asked: Pick<CauseQuestion, 'actor' | 'correlationId'>,
  from: number,
  until: number,
): AsyncGenerator<readonly [first: number, last: number]> {
  let next = from
  const isAsked = asked.actor !== undefined || asked.correlationId !== undefined
  while (isAsked && causes !== undefined && next <= until) {
    const found = await causes({ queue: name, ...asked, from: next, until, limit: spansAtOnce })
    if (found === undefined || found.revision < next || !(await isOfLog(log, name, found))) break
    let open: readonly [number, number] | undefined
    for (const [begin, end] of found.spans) {
      const [first, last] = [Math.max(begin, next), Math.min(end, until)]
      if (first > last) continue
      if (open !== undefined && first - open[1] > gapMax) {
        yield open
        open = undefined
      }
      open = [open?.[0] ?? first, last]
    }
    if (open !== undefined) yield open
    const known = found.isMore ? (found.spans[found.spans.length - 1]?.[1] ?? found.revision) : found.revision
    // A span that ends before the requested range would otherwise come again and again.
    if (known < next) break
    next = known + 1
    if (!found.isMore) break
  }
  if (next <= until) yield [next, until]
}

/** Whether the index belongs to this log: the log has the last event of the index. */
const isOfLog = async (log: QueueView['log'], queue: string, { revision, eventId }: Caused): Promise<boolean> => (await log.pick(streamOf(queue), [revision]))[0]?.id === eventId
