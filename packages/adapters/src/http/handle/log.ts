/** The log itself: events in order, with actor and time. Read from the store, not from the state. */
import { Readable } from 'node:stream'
import { taskOf } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import { type Answer, historyOf, parseObject, type QueueView, revisionAt, type Searched, searchHistory, spansOf, streamOf } from '../../engine/index.js'
import type { RecordedEvent } from '../../store/index.js'
import { loggedLines } from '../json/event-lines.js'
import { eventText, historyText } from '../json/event-text.js'
import { noSuchQueue, noSuchTask, problem, type Problem, problemOf } from '../problem.js'
import { ownTurn } from '../../own-turn.js'
import { type EventsQuery, type HistoryQuery, momentAt } from '../query.js'
import { millisecondsOf } from '../../iso-time.js'
import { find, type Handled, type ViewCall } from '../routes/route.js'
import { quote } from '../json/text.js'

export const history = async ({ queue, params, query, limits }: ViewCall<HistoryQuery>): Promise<Handled> => {
  const { id = '' } = params
  const text = ({ events, next }: Searched): string => `{"events":[${events.map(historyText).join(',')}],"next":${next ?? 'null'}}`
  // With `before`, the request continues with older events, or a search for a task that the state does not know.
  const { before } = query
  if (before === undefined) {
    const known = await historyOf(queue, id, limits.pageBytesMax)
    if (E.isLeft(known)) return E.left(problemOf(known.left))
    const { value, revision } = known.right
    if (value !== undefined) return E.right({ status: 200, text: text(value), revision })
  }
  const revision = queue.revision()
  if (revision < 0) return E.left(noSuchQueue(queue.name))
  const sought = await idOf(queue, id)
  if (E.isLeft(sought)) return sought
  const found = await searchHistory(queue.log, queue.name, sought.right, Math.min(Number(before ?? revision), revision), limits.scanEventsMax, limits.pageBytesMax)
  if (found.events.length === 0 && found.next === undefined) return E.left(problem('not-found', `no task ${id} was ever in queue ${queue.name}`))
  return E.right({ status: 200, text: text(found), revision })
}

/** The id of a task that may be given by its number. The log cannot be searched by number: only the state knows which task has it. */
const idOf = async (queue: QueueView, task: string): Promise<E.Either<Problem, string>> => {
  if (!task.startsWith('#')) return E.right(task)
  return E.map(({ value }: Answer<string>) => value)(await find(queue, (state, at) => taskOf(state, task, at)?.id, () => noSuchTask(queue, task)))
}

const pageDefault = 100

export const events = async (call: ViewCall<EventsQuery>): Promise<Handled> => {
  const { queue, query, limits, wantsLines } = call
  const from = await firstOf(queue, query.from)
  const isAsked = await filterOf(call)
  if (E.isLeft(isAsked)) return isAsked
  const revision = queue.revision()
  if (wantsLines) {
    const lines = linesOf(queue, query, from, revision, Number(query.limit ?? Number.POSITIVE_INFINITY), isAsked.right)
    return E.right({ status: 200, text: Readable.from(lines, { objectMode: false }), type: 'application/x-ndjson', revision })
  }
  const limit = Math.min(Number(query.limit ?? pageDefault), limits.pageMax)
  const texts: Array<string> = []
  let size = 0
  let next = from
  let seen = 0
  let isEnd = true
  scan: for await (const page of pagesOf(queue, query, from, revision)) {
    for (const event of page) {
      if (texts.length === limit || size > limits.pageBytesMax || seen++ === limits.scanEventsMax) {
        isEnd = false
        break scan
      }
      next = event.revision + 1
      if (!isAsked.right(event)) continue
      const text = eventText(event)
      size += text.length
      texts.push(text)
    }
  }
  // `next` is null at the end of the log.
  const rest = isEnd || next > revision ? 'null' : String(next)
  return E.right({ status: 200, text: `{"events":[${texts.join(',')}],"next":${rest},"revision":${revision}}`, revision })
}

type Filter = (event: RecordedEvent) => boolean

const filterOf = async (
  { queue, query: { type, task, actor, correlationId } }: ViewCall<EventsQuery>,
): Promise<E.Either<Problem, Filter>> => {
  const id = task === undefined ? E.right(undefined) : await idOf(queue, task)
  if (E.isLeft(id)) return id
  const of = has('data', 'task', id.right)
  const by = has('metadata', 'actor', actor)
  const within = has('metadata', '$correlationId', correlationId)
  return E.right((event) => (type === undefined || event.type === type) && by(event) && within(event) && of(event))
}

/** Whether a member has this value. The text search rules out most events. The rest is parsed, because a payload may contain the same text. */
const has = (part: 'data' | 'metadata', member: string, value: string | undefined): Filter => {
  if (value === undefined) return () => true
  const mark = `${quote(member)}:${quote(value)}`
  return (event) => event[part].includes(mark) && parseObject(event[part])?.[member] === value
}

/** The revision from which to read: the first event at or after a time. */
const firstOf = async ({ log, name, revision }: QueueView, from = '0'): Promise<number> => {
  const { at, revision: given } = momentAt(from)
  return at === undefined ? Number(given) : (await revisionAt(log, streamOf(name), revision(), millisecondsOf(at) - 1)) + 1
}

/** All events that may match, and others. Streams take turns, so that many at the same time do not keep other requests waiting. */
const pagesOf = async function* (queue: QueueView, { actor, correlationId }: EventsQuery, from: number, until: number): AsyncGenerator<ReadonlyArray<RecordedEvent>> {
  await ownTurn()
  for await (const [first, last] of spansOf(queue, { actor, correlationId }, from, until)) {
    for await (const page of queue.log.read(streamOf(queue.name), { from: first, limit: last - first + 1 })) {
      yield page
      await ownTurn()
    }
  }
}

/** A page is sent before the next one is read, so that a slow client does not fill the memory (back-pressure). */
const linesOf = async function* (
  queue: QueueView,
  query: EventsQuery,
  from: number,
  until: number,
  limit: number,
  isAsked: Filter,
): AsyncGenerator<Buffer> {
  let left = limit
  for await (const page of pagesOf(queue, query, from, until)) {
    const asked = page.filter(isAsked).slice(0, left)
    left -= asked.length
    if (asked.length > 0) yield loggedLines(asked)
    if (left === 0) return
  }
}
