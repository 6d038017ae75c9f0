/** Watches a queue of this process: the messages of a WebSocket, without one. */
import { joined } from '@daybook/client/common'
import { closedError, DaybookError, type Link } from '@daybook/client/internal'
import { QueueName } from '@daybook/core'
import type { Daybook } from '../engine/index.js'
import { feed } from '../http/websocket/feed.js'
import type { Message } from '../http/websocket/messages.js'

/** `closing` ends every watch. */
export const watchQueueOf = (daybook: Daybook, closing: AbortSignal): Link['watch'] =>
  async function* (name, { from = 'end', signal } = {}) {
    // As a server refuses them.
    if (closing.aborted) throw closedError()
    if (!QueueName.is(name)) throw invalid(`queue: must be a ${QueueName.name}`)
    if (from !== 'end' && !(Number.isSafeInteger(from) && from >= 0)) throw invalid('from: must be a revision, or end')
    const queue = await daybook.open(name)
    const end = queue.status().revision + 1
    const first = from === 'end' ? end : from
    if (first > end) throw invalid(`from: the log of queue ${name} ends at revision ${end - 1}`)
    const { signal: over, abort, forget } = joined(closing, signal)
    let message: Message | undefined
    let isOver = false
    let wake = (): void => undefined
    let taken = (): void => undefined
    // One message at a time: the log is read no faster than the messages are taken.
    const send = (next: Message): Promise<void> =>
      new Promise((resolve) => {
        message = next
        taken = resolve
        wake()
      })
    const feeding = feed({ daybook, queue, from: first, send, signal: over }).finally(() => {
      isOver = true
      wake()
    })
    feeding.catch(() => undefined)
    over.addEventListener('abort', () => taken(), { once: true })
    try {
      for (;;) {
        if (message !== undefined && !over.aborted) {
          yield message
          message = undefined
          taken()
        } else if (isOver) {
          return await feeding
        } else {
          await new Promise<void>((resolve) => (wake = resolve))
        }
      }
    } finally {
      abort()
      forget()
    }
  }

const invalid = (detail: string): DaybookError => new DaybookError('invalid', detail, { unsent: true })
