/**
 * BatchAppend: one call carries any number of appends. The messages of an append share a
 * correlation id; its answer has the same id. Answers come in any order.
 */
import type { ServerDuplexStream } from '@grpc/grpc-js'
import { runWrite } from './append-faults.js'
import { badRequest, batchReply, internalError, notHandled, resultOf, timeout, tooLarge } from './batch-replies.js'
import { refusal, type Context } from './context.js'
import type { NewEvent } from './log-event.js'
import { BadRequest, countedBytes, expectedOf, idOf, proposedEvent, streamName, understood, type Stated } from './requests.js'
import { thrown, type RpcError } from './rpc-errors.js'
import { streams, type BatchAppendReq } from './stubs.js'

interface PendingAppend {
  readonly stream: string
  readonly expected: Stated
  readonly events: Array<NewEvent>
  readonly timer: NodeJS.Timeout
  bytes: number
}

type Options = NonNullable<ReturnType<BatchAppendReq['getOptions']>>

const { ExpectedStreamPositionCase } = streams.BatchAppendReq.Options

const requestedTimeoutMs = (options: Options): number => {
  const deadline = options.getDeadline()
  return deadline === undefined ? Infinity : deadline.getSeconds() * 1000 + deadline.getNanos() / 1e6 - Date.now()
}

export const batchAppend = (context: Context, call: ServerDuplexStream<BatchAppendReq, Buffer>): void => {
  const { writer } = context.store
  const { appendBytesMax, writeTimeoutMs } = context.limits
  const pending = new Map<string, PendingAppend>()
  let over = false
  const reply = (correlationId: string, stream: string, result: Buffer): void => {
    if (!over) call.write(batchReply(correlationId, stream, result))
  }
  const finish = (end: () => void): void => {
    if (over) return
    over = true
    for (const { timer } of pending.values()) clearTimeout(timer)
    end()
  }
  const fail = (error: RpcError): void => finish(() => call.emit('error', error))

  const begin = (correlationId: string, options: Options): boolean => {
    const stream = streamName(options.getStreamIdentifier())
    if (options.getStreamIdentifier() === undefined) throw new BadRequest('Required field StreamIdentifier not set.')
    if (stream === '') throw new BadRequest("Value cannot be null. (Parameter 'value')")
    const timeoutMs = Math.min(requestedTimeoutMs(options), writeTimeoutMs)
    if (timeoutMs <= 0) {
      reply(correlationId, stream, timeout())
      return false
    }
    if (pending.has(correlationId)) return true
    const isRevision = options.getExpectedStreamPositionCase() === ExpectedStreamPositionCase.STREAM_POSITION
    const expected = expectedOf(options, isRevision ? options.getStreamPosition() : undefined)
    if (expected === undefined) throw new BadRequest('The expected position is not set.')
    const timer = setTimeout(() => {
      pending.delete(correlationId)
      reply(correlationId, stream, timeout())
    }, timeoutMs)
    pending.set(correlationId, { stream, expected, events: [], bytes: 0, timer })
    return true
  }

  const commit = (correlationId: string, { stream, expected, events }: PendingAppend): void => {
    if (stream === '$$') throw new BadRequest("Specified argument was out of the range of valid values. (Parameter 'eventStreamId')")
    const refuse = (error: RpcError): void =>
      error.metadata.get('exception').length > 0 ? fail(error) : reply(correlationId, stream, notHandled(error.details))
    const refused = refusal(context, call.metadata)
    if (refused !== undefined) return refuse(refused)
    runWrite({
      write: (answer) => writer.append(stream, understood(expected), events, answer),
      answer: (outcome) => reply(correlationId, stream, resultOf(outcome, stream, expected)),
      timedOut: () => reply(correlationId, stream, timeout()),
      refuse, fail,
      failAlone: () => reply(correlationId, stream, internalError()),
      close: () => finish(() => call.end()),
      drop: () => context.drop(call.getPeer()),
    }, context.faults.take('append', stream))
  }

  const settle = (correlationId: string): PendingAppend | undefined => {
    const append = pending.get(correlationId)
    clearTimeout(append?.timer)
    pending.delete(correlationId)
    return append
  }

  const take = (request: BatchAppendReq): void => {
    const correlationId = idOf(request.getCorrelationId())
    const options = request.getOptions()
    if (options !== undefined && !begin(correlationId, options)) return
    const append = pending.get(correlationId)
    if (append === undefined) return
    for (const message of request.getProposedMessagesList()) {
      const event = proposedEvent(message)
      append.bytes += countedBytes(event)
      append.events.push(event)
    }
    if (append.bytes > appendBytesMax) {
      settle(correlationId)
      reply(correlationId, append.stream, tooLarge(appendBytesMax))
      return
    }
    if (request.getIsFinal() && settle(correlationId) !== undefined) commit(correlationId, append)
  }

  call.on('data', (request: BatchAppendReq) => {
    try {
      take(request)
    } catch (error) {
      if (!(error instanceof BadRequest)) throw error
      // The stream is in the options, and only the first message has them.
      const options = request.getOptions()
      if (options === undefined) fail(thrown())
      else reply(request.getCorrelationId()?.getString() ?? '', streamName(options.getStreamIdentifier()), badRequest(error.message))
    }
  })
  call.on('end', () => finish(() => call.end()))
  call.on('cancelled', () => finish(() => {}))
  call.on('error', () => finish(() => {}))
}
