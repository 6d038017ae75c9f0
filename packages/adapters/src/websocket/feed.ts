/**
 * Sends a queue's messages to one client, from a revision on: first from the log, page by page, then as events become durable. Nothing is kept for a client: it is
 * sent the next page when the one before has left, so a slow one costs no memory and misses nothing.
 */
import { explainOf } from '@daybook/core'
import { isRight } from 'fp-ts/lib/Either.js'
import { type Daybook, type QueueEngine, streamOf } from '../engine/index.js'
import type { RecordedEvent } from '../store/index.js'
import { type Message, messagesOf } from './messages.js'

/** Events that are read at a time. */
const pageEvents = 256
/** If more events are sent together, positions of queued tasks are not asked for. */
const positionsMax = 16

export interface FeedOptions {
  readonly daybook: Daybook
  readonly queue: QueueEngine
  /** The first revision. */
  readonly from: number
  /** Resolves when there is room for more. */
  readonly send: (message: Message) => Promise<void>
  readonly signal: AbortSignal
}

/** Ends when the signal aborts, or the queue is closed. Rejects if the log cannot be read. */
export const feed = async ({ daybook, queue, from, send, signal }: FeedOptions): Promise<void> => {
  let next = from
  let before: RecordedEvent | undefined
  let isOver = false
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
          // It may have moved since.
          if (isOver || queue.status().revision >= next) resolve()
        })
        continue
      }
      // With the event before the first one, which the messages of an event may need.
      const start = before === undefined && next > 0 ? next - 1 : next
      const events: Array<RecordedEvent> = []
      const limit = Math.min(revision - start + 1, pageEvents)
      for await (const page of daybook.log.read(streamOf(queue.name), { from: start, limit })) events.push(...page)
      const fresh = events.filter((event) => event.revision >= next)
      const positions = fresh.length <= positionsMax ? await positionsIn(queue, fresh) : undefined
      for (const event of events) {
        if (event.revision >= next) {
          for (const message of messagesOf(event, before, (task) => positions?.get(task) ?? null)) {
            if (isOver) return
            await send(message)
          }
          next = event.revision + 1
        }
        before = event
      }
      // The store answered with nothing: it is asked again when the queue moves.
      if (fresh.length === 0) next = revision + 1
    }
  } finally {
    listening.unsubscribe()
    signal.removeEventListener('abort', end)
  }
}

/** The places of the tasks that these events enqueued, as far as they still wait. */
const positionsIn = async (queue: QueueEngine, events: ReadonlyArray<RecordedEvent>): Promise<ReadonlyMap<string, number>> => {
  const tasks = events.flatMap(({ type, data }) => (type === 'TaskEnqueued' ? [(JSON.parse(data) as { readonly task: string }).task] : []))
  if (tasks.length === 0) return new Map()
  const found = await queue.read((state, at) => tasks.map((task) => explainOf(state, task, at)?.position ?? null))
  if (!isRight(found)) return new Map()
  return new Map(tasks.flatMap((task, i) => (typeof found.right.value[i] === 'number' ? [[task, found.right.value[i] as number] as const] : [])))
}
