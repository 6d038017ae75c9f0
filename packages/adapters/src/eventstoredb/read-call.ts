/** One Read call: bounded, with a time-out, and always cancelled at the server when its reader leaves early. */
import type { StatusObject } from '@grpc/grpc-js'
import type { RecordedEvent } from '../store/index.js'
import type { ReadReq } from '@eventstore/db-client/generated/streams_pb.js'
import type { Connection, Link } from './connection.js'
import { NoAnswer } from './errors.js'
import { recordedEvent } from './recorded.js'
import type { ReadResp } from './stubs.js'

export interface ReadCallHandlers {
  readonly event: (event: RecordedEvent) => void
  /** The stream does not exist. */
  readonly missing: () => void
  /** The call has ended: with an error, or with OK (`undefined`). No handler is called after this. */
  readonly end: (error: unknown) => void
}

/** Starts the call. The returned function cancels it; no handler is called after that. */
export const readCall = (
  connection: Connection,
  link: Link,
  stream: string,
  request: ReadReq,
  /** The longest time between two messages. `undefined` for no time-out. */
  silenceMs: number | undefined,
  handlers: ReadCallHandlers,
): (() => void) => {
  const call = link.stub.read(request, ...link.callArguments())
  let heard = false
  let over = false

  const watch = silenceMs === undefined ? undefined : setInterval(() => {
    if (!heard) {
      connection.abandon(link)
      finish(new NoAnswer(`no answer within ${silenceMs} ms`))
    }
    heard = false
  }, silenceMs)

  const stop = (): void => {
    over = true
    clearInterval(watch)
    call.cancel()
  }
  const finish = (error: unknown): void => {
    if (over) return
    stop()
    if (error === undefined) connection.succeeded()
    else connection.failed(link, error)
    handlers.end(error)
  }

  call.on('metadata', connection.heard)
  // A call without messages has no headers: everything is in its trailers.
  call.on('status', ({ metadata }: StatusObject) => connection.heard(metadata))
  call.on('data', (response: ReadResp) => {
    if (over) return
    heard = true
    const sent = response.getEvent()
    const event = sent?.getLink() ?? sent?.getEvent()
    if (event !== undefined) handlers.event(recordedEvent(event, stream))
    else if (response.hasStreamNotFound()) handlers.missing()
  })
  call.on('end', () => finish(undefined))
  call.on('error', finish)
  return stop
}
