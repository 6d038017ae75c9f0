/** Subscription to one stream: the events after the checkpoint, then caught-up, then new events. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Context } from './context.js'
import { encoding } from './links.js'
import { tombstoneRevision, tombstoneType, type LogEvent } from './log-event.js'
import type { Outbox } from './outbox.js'
import type { ReadRequest } from './read-request.js'
import { streamDeleted } from './rpc-errors.js'
import { pageEvents, pageForwards } from './stream-reads.js'
import { Subscription } from './subscription.js'

type Request = Extract<ReadRequest, { readonly kind: 'subscribe-stream' }>

/** Interval of looking for a stream that does not exist yet. */
const pollMs = 50

export const subscribeToStream = async (context: Context, { stream, from, resolveLinks }: Request, out: Outbox): Promise<void> => {
  const { log } = context.store
  const subscription = new Subscription(out, encoding(log, resolveLinks))
  let seen = typeof from === 'number' ? from : -1
  const send = (event: LogEvent): void => {
    if (event.revision <= seen) return
    seen = event.revision
    subscription.send(event)
    if (event.type === tombstoneType) out.fail(streamDeleted(stream))
  }
  for (let next = seen + 1; from !== 'end' && !out.over;) {
    const page = pageForwards(log, stream, next, pageEvents, Date.now())
    if (page.kind === 'deleted') return out.fail(streamDeleted(stream))
    subscription.confirm()
    if (page.kind === 'no_stream') {
      await sleep(pollMs)
      continue
    }
    page.events.forEach(send)
    await out.room()
    next = page.next
    // New events may have arrived while the reader had no room.
    if (page.end && next > (log.stream(stream)?.visible ?? -1)) break
  }
  const before = log.tombstoneVisible(stream) ? tombstoneRevision : (log.stream(stream)?.visible ?? -1)
  subscription.goLive(log.listen, context.limits.unreadEventsMax, (event) => {
    if (event.stream === stream && event.revision > before) send(event)
  })
}
