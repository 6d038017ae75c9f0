/**
 * One BatchAppend call. It sends any number of appends in order, and matches answers to them by correlation id. A failure of the call concerns only
 * its own appends.
 */
import { randomUUID } from 'node:crypto'
import type { BatchAppendReq, BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js'
import type { Connection, Link } from './connection.js'
import { EndedEarly, NoAnswer } from './errors.js'

export interface AppendCall {
  /** Whether the call accepts more appends. */
  readonly isOpen: () => boolean
  /** The server's answer. Rejects when the call fails, or with {@link NoAnswer}. */
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
    // Nothing more will be sent: the call ends after its last answer.
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

  call.on('metadata', connection.heard)
  call.on('data', (response: BatchAppendResp) => {
    connection.succeeded()
    // Does nothing for an answer that comes too late or twice.
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
