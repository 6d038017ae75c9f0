/**
 * One BatchAppend call: any number of appends go out on it, in order, and their answers come back under their
 * correlation ids. What fails on it concerns the appends of this call and no others.
 */
import { randomUUID } from 'node:crypto'
import type { BatchAppendReq, BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js'
import type { Connection, Link } from './connection.js'
import { EndedEarly, NoAnswer } from './errors.js'

export interface AppendCall {
  /** Whether it takes more. */
  readonly isOpen: () => boolean
  /** The server's answer; rejects when the call fails, or with {@link NoAnswer}. */
  readonly send: (request: (correlationId: string) => BatchAppendReq) => Promise<BatchAppendResp>
  readonly cancel: () => void
}

interface Pending {
  readonly resolve: (response: BatchAppendResp) => void
  readonly reject: (error: unknown) => void
  readonly timer: NodeJS.Timeout
}

export const openAppendCall = (connection: Connection, link: Link, appendMs: number): AppendCall => {
  const pending = new Map<string, Pending>()
  const call = link.stub.batchAppend(...link.callArguments())
  let open = true
  let over = false

  const take = (correlationId: string): Pending | undefined => {
    const found = pending.get(correlationId)
    clearTimeout(found?.timer)
    pending.delete(correlationId)
    // Nothing more will be sent on it: when the last answer is there, the server may forget it.
    if (!open && pending.size === 0) call.cancel()
    return found
  }

  const end = (error: Error): void => {
    if (over) return
    over = true
    open = false
    const wasAsked = pending.size > 0
    for (const id of [...pending.keys()]) take(id)?.reject(error)
    if (wasAsked) connection.failed(link, error)
  }

  call.on('data', (response: BatchAppendResp) => {
    connection.succeeded()
    // One that came late, or twice, finds nobody waiting.
    take(response.getCorrelationId()?.getString() ?? '')?.resolve(response)
  })
  call.on('error', end)
  call.on('end', () => end(new EndedEarly()))

  return {
    isOpen: () => open,
    send: (request) =>
      new Promise((resolve, reject) => {
        const correlationId = randomUUID()
        const timer = setTimeout(() => {
          open = false
          connection.abandon(link)
          take(correlationId)?.reject(new NoAnswer(`no answer within ${appendMs} ms`))
        }, appendMs)
        pending.set(correlationId, { resolve, reject, timer })
        call.write(request(correlationId))
      }),
    cancel: () => {
      open = false
      call.cancel()
    },
  }
}
