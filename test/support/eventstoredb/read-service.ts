/** Read: the RPC for reads and subscriptions. */
import { allBackwards, allForwards, type AllPage, type Position } from './all-reads.js'
import { subscribeToAll } from './all-subscription.js'
import { refusal, type Context } from './context.js'
import { everything } from './filters.js'
import { encoding } from './links.js'
import { Outbox, type ReadCall } from './outbox.js'
import { readRequest, InvalidRead, type ReadRequest } from './read-request.js'
import { streamNotFound } from './read-responses.js'
import { invalidArgument, streamDeleted, thrown, unexpectedResult } from './rpc-errors.js'
import { pageBackwards, pageEvents, pageForwards, type StreamPage } from './stream-reads.js'
import { subscribeToStream } from './stream-subscription.js'

type Request<K extends ReadRequest['kind']> = Extract<ReadRequest, { readonly kind: K }>

const readStream = async (context: Context, request: Request<'stream'>, out: Outbox): Promise<void> => {
  const { log } = context.store
  const { stream, from, backwards, count } = request
  const encode = encoding(log, request.resolveLinks)
  if (count === 0 || (from === 'end' && !backwards)) return out.fail(unexpectedResult('ReadStreamResult'))
  const page = (at: number | undefined, size: number): StreamPage =>
    backwards ? pageBackwards(log, stream, at, size, Date.now()) : pageForwards(log, stream, at ?? 0, size, Date.now())
  let at = from === 'start' ? 0 : from === 'end' ? undefined : from
  for (let left = count; left > 0 && !out.over;) {
    const result = page(at, Math.min(pageEvents, left))
    if (result.kind === 'deleted') return out.fail(streamDeleted(stream))
    if (result.kind === 'no_stream') {
      out.push(streamNotFound(stream))
      return out.end()
    }
    for (const event of result.events) out.event(encode(event))
    left -= result.events.length
    if (result.end) break
    at = result.next
    await out.room()
  }
  out.end()
}

const startOf = (from: Request<'all'>['from'], end: number): Position => {
  if (from === 'start') return { commit: 0, prepare: 0 }
  return from === 'end' ? { commit: end, prepare: end } : from
}

const readAll = async (context: Context, request: Request<'all'>, out: Outbox): Promise<void> => {
  const { log } = context.store
  const { backwards, count, filter } = request
  const encode = encoding(log, request.resolveLinks)
  const matches = filter?.matches ?? everything
  // With a count of 0 the server never ends the call.
  if (count === 0) return
  const page = (at: Position, size: number): AllPage | 'error' =>
    backwards ? allBackwards(log, at, size, matches) : allForwards(log, at, size, matches, filter?.window)
  let at = startOf(request.from, log.end)
  for (let left = count; left > 0 && !out.over;) {
    const result = page(at, Math.min(pageEvents, left))
    if (result === 'error') return out.fail(unexpectedResult(filter === undefined ? 'ReadAllResult' : 'FilteredReadAllResult'))
    for (const event of result.events) out.event(encode(event))
    left -= result.events.length
    if (result.end) break
    at = result.next
    await out.room()
  }
  out.end()
}

const serve = async (context: Context, request: ReadRequest, out: Outbox): Promise<void> => {
  switch (request.kind) {
    case 'stream': return readStream(context, request, out)
    case 'all': return readAll(context, request, out)
    case 'subscribe-stream': return subscribeToStream(context, request, out)
    case 'subscribe-all': return subscribeToAll(context, request, out)
  }
}

export const read = (context: Context) => (call: ReadCall): void => {
  let request: ReadRequest
  try {
    request = readRequest(call.request)
  } catch (error) {
    call.emit('error', error instanceof InvalidRead ? invalidArgument(error.message) : thrown())
    return
  }
  const refused = refusal(context, call.metadata)
  if (refused !== undefined) {
    call.emit('error', refused)
    return
  }
  if (request.kind === 'subscribe-stream') context.subscribed({ stream: request.stream, from: request.from })
  const subscribes = request.kind === 'subscribe-all' || request.kind === 'subscribe-stream'
  const fault = context.faults.take(subscribes ? 'subscribe' : 'read', 'stream' in request ? request.stream : '$all')
  const out = new Outbox(context, call, fault)
  const delayMs = fault?.kind === 'slow' || fault?.kind === 'late-reply' ? (fault.afterMs ?? 0) : 0
  setTimeout(() => void serve(context, request, out).catch(() => out.fail(thrown())), delayMs)
}
