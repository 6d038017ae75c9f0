/**
 * Sends a queue's messages to one client, from a revision on: first from the log, page by page, then as events become durable. Nothing is kept for a
 * client. The next page is sent when the previous one has left, so a slow client costs no memory and misses nothing.
 */
import { capacityOf, explainOf } from '@daybook/core'
import { isRight } from 'fp-ts/lib/Either.js'
import { type Daybook, parseObject, type QueueEngine, streamOf } from '../../engine/index.js'
import { ownTurn } from '../../own-turn.js'
import type { RecordedEvent } from '../../store/index.js'
import { type Message, messagesOf, type Present } from './messages.js'

/** Number of events that are read at a time. */
const pageEvents = 256
/** If more events than this are sent together, the queue is not asked for the present place of their tasks. */
const askedMax = 16

export interface FeedOptions {
  readonly daybook: Daybook
  readonly queue: QueueEngine
  /** The first revision. */
  readonly from: number
  /** Sends a message. Resolves when there is room for more. */
  readonly send: (message: Message) => Promise<void>
  readonly signal: AbortSignal
}

/** Ends when the signal aborts, or when the queue is closed. Rejects if the log cannot be read. */
export const feed = async ({ daybook, queue, from, send, signal }: FeedOptions): Promise<void> => {
  let next = from
  let before: RecordedEvent | undefined
  let isOver = signal.aborted
  let wake = (): void => undefined
  const end = (): void => {
    isOver = true
    wake()
  }
  const listening = queue.committed.subscribe({ next: () => wake(), complete: end })
  signal.addEventListener('abort', end, { once: true })
  try {
    while (!isOver) {
      const { revision } = queue.status()
      if (next > revision) {
        await new Promise<void>((resolve) => {
          wake = resolve
          // The queue may have moved since.
          if (isOver || queue.status().revision >= next) resolve()
        })
        continue
      }
      // Includes the event before the first one, which the messages of an event may need.
      const start = before === undefined && next > 0 ? next - 1 : next
      const events: Array<RecordedEvent> = []
      const limit = Math.min(revision - start + 1, pageEvents)
      // Behind: other clients and requests come in between. A few new events are sent at once.
      if (limit > askedMax) await ownTurn()
      for await (const page of daybook.log.read(streamOf(queue.name), { from: start, limit })) events.push(...page)
      const fresh = events.filter((event) => event.revision >= next)
      const present = fresh.length <= askedMax ? await sharedPresent(queue, fresh, revision) : undefined
      for (const event of events) {
        if (event.revision >= next) {
          for (const message of messagesOf(event, before, present)) {
            if (isOver) return
            await send(message)
          }
          next = event.revision + 1
        }
        before = event
      }
      // The store returned nothing: it is asked again when the queue moves.
      if (fresh.length === 0) next = revision + 1
    }
  } finally {
    listening.unsubscribe()
    signal.removeEventListener('abort', end)
  }
}

/** What was asked last of each queue. */
const lastAsked = new WeakMap<QueueEngine, { readonly about: string; readonly present: Promise<Present | undefined> }>()

/**
 * Clients of a queue mostly get the same events at the same time, and are told the same of them: a place among thousands of tasks takes the deciding
 * thread milliseconds, for each client. `revision`: that of the queue now.
 */
const sharedPresent = (queue: QueueEngine, events: ReadonlyArray<RecordedEvent>, revision: number): Promise<Present | undefined> => {
  const about = `${events[0]?.revision} ${events.length} ${revision}`
  const last = lastAsked.get(queue)
  if (last?.about === about) return last.present
  const present = presentOf(queue, events)
  lastAsked.set(queue, { about, present })
  return present
}

/** The number of free slots, and the places of those tasks of these events that still wait. `undefined` if the events enqueued none. */
const presentOf = async (queue: QueueEngine, events: ReadonlyArray<RecordedEvent>): Promise<Present | undefined> => {
  const tasks = events.flatMap(({ type, data }) => {
    const task = type === 'TaskEnqueued' ? parseObject(data)?.task : undefined
    return typeof task === 'string' ? [task] : []
  })
  if (tasks.length === 0) return undefined
  const found = await queue.read((state, at): Present => {
    const { isAtCapacity, queued, activeAgents, maxConcurrentAgents } = capacityOf(state, at)
    const placeOf = (task: string): number | null => (isAtCapacity ? queued.indexOf(task) + 1 || null : (explainOf(state, task, at)?.position ?? null))
    return { positions: new Map(tasks.map((task) => [task, placeOf(task)])), slotsAvailable: Math.max(0, maxConcurrentAgents - activeAgents) }
  })
  return isRight(found) ? found.right.value : undefined
}
