/** Subscription to the whole log, filtered or not. */
import { allForwards, type Position } from './all-reads.js'
import type { Context } from './context.js'
import { everything } from './filters.js'
import { encoding } from './links.js'
import type { LogEvent } from './log-event.js'
import type { Outbox } from './outbox.js'
import type { Filter, ReadRequest } from './read-request.js'
import { checkpoint } from './read-responses.js'
import { thrown, unexpectedResult } from './rpc-errors.js'
import { pageEvents } from './stream-reads.js'
import { Subscription } from './subscription.js'

type Request = Extract<ReadRequest, { readonly kind: 'subscribe-all' }>

const noFilter: Filter = { matches: everything, window: Infinity, checkpointEvery: Infinity }

export const subscribeToAll = async (context: Context, { from, filter, resolveLinks }: Request, out: Outbox): Promise<void> => {
  const { log } = context.store
  const { matches, window, checkpointEvery } = filter ?? noFilter
  const subscription = new Subscription(out, encoding(log, resolveLinks))
  let considered = 0
  let seen = -1
  const send = (event: LogEvent): void => {
    if (event.position <= seen) return
    seen = event.position
    subscription.send(event)
  }

  if (from !== 'end') {
    let next: Position = { commit: 0, prepare: 0 }
    if (from !== 'start' && !(from.commit === 0 && from.prepare === 0)) {
      // The checkpoint is exclusive: the event at it is read and skipped.
      const passed = allForwards(log, from, 1, everything)
      if (passed === 'error') return out.fail(thrown())
      next = passed.next
    }
    while (!out.over) {
      const page = allForwards(log, next, pageEvents, matches, window)
      if (page === 'error') return out.fail(unexpectedResult(filter === undefined ? 'ReadAllResult' : 'FilteredReadAllResult'))
      subscription.confirm()
      page.events.forEach(send)
      considered += page.considered
      const last = page.events.at(-1)
      const reached = last === undefined ? next : { commit: last.position, prepare: last.position }
      next = page.next
      if (!page.end && considered >= checkpointEvery) {
        considered %= checkpointEvery
        out.push(checkpoint(reached.commit, reached.prepare))
      }
      await out.room()
      if (page.end && (next.commit >= log.end || allForwards(log, next, 1, everything) === 'error')) break
    }
  }

  subscription.goLive(log.listen, context.limits.unreadEventsMax, (event) => {
    if (matches(event)) send(event)
    considered += 1
    if (considered >= checkpointEvery) {
      out.push(checkpoint(event.position, event.position))
      considered = 0
    }
  })
}
