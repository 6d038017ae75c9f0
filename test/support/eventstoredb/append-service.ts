/** Append: one append per call. The client uses it if a call has its own credentials. */
import type { ServerReadableStream, sendUnaryData } from '@grpc/grpc-js'
import { appended, wrongVersion } from './append-replies.js'
import { runWrite } from './append-faults.js'
import { givenUp, refusal, type Context } from './context.js'
import type { NewEvent } from './log-event.js'
import { BadRequest, countedBytes, expectedOf, proposedEvent, streamName, understood, type Stated } from './requests.js'
import { internal, maxAppendSizeExceeded, missingMetadata, streamDeleted, thrown, timedOut, type RpcError } from './rpc-errors.js'
import { streams, type AppendReq } from './stubs.js'
import type { Outcome } from './writer.js'

const { ExpectedStreamRevisionCase } = streams.AppendReq.Options

interface Target {
  readonly stream: string
  readonly expected: Stated
}

const targetOf = (request: AppendReq): Target | undefined => {
  const options = request.getOptions()
  if (options === undefined) return undefined
  const isRevision = options.getExpectedStreamRevisionCase() === ExpectedStreamRevisionCase.REVISION
  const expected = expectedOf(options, isRevision ? options.getRevision() : undefined)
  return expected === undefined ? undefined : { stream: streamName(options.getStreamIdentifier()), expected }
}

export const append = (context: Context, call: ServerReadableStream<AppendReq, Buffer>, done: sendUnaryData<Buffer>): void => {
  const events: Array<NewEvent> = []
  let target: Target | undefined
  let bytes = 0
  let over = false
  const finish = (error: RpcError | null, reply?: Buffer): void => {
    if (over) return
    over = true
    done(error, reply)
  }

  const take = (request: AppendReq): void => {
    if (target === undefined) {
      target = targetOf(request)
      if (target === undefined || target.stream === '') finish(thrown())
      return
    }
    const message = request.getProposedMessage()
    if (message === undefined) return finish(thrown())
    for (const property of ['type', 'content-type']) {
      if (!message.getMetadataMap().has(property)) return finish(missingMetadata(property))
    }
    const event = proposedEvent(message)
    bytes += countedBytes(event)
    if (bytes > context.limits.appendBytesMax) return finish(maxAppendSizeExceeded(context.limits.appendBytesMax))
    events.push(event)
  }

  const answer = ({ stream, expected }: Target) => (outcome: Outcome): void => {
    switch (outcome.kind) {
      case 'written': return finish(null, appended(outcome.revision, outcome.position))
      case 'wrong_revision': return finish(null, wrongVersion(outcome.actual, expected))
      case 'deleted': return finish(streamDeleted(stream))
    }
  }

  const commit = (to: Target): void => {
    if (givenUp(call)) return
    if (to.stream === '$$') return finish(thrown())
    const refused = refusal(context, call.metadata)
    if (refused !== undefined) return finish(refused)
    runWrite({
      write: (written) => context.store.writer.append(to.stream, understood(to.expected), events, written),
      answer: answer(to),
      timedOut: () => finish(timedOut('Commit phase timeout.')),
      refuse: finish,
      fail: finish,
      failAlone: () => finish(internal('Internal error.')),
      close: () => finish(null, Buffer.alloc(0)),
      drop: () => context.drop(call.getPeer()),
    }, context.faults.take('append', to.stream))
  }

  call.on('data', (request: AppendReq) => {
    if (over) return
    try {
      take(request)
    } catch (error) {
      if (!(error instanceof BadRequest)) throw error
      finish(thrown())
    }
  })
  call.on('end', () => {
    if (over) return
    if (target === undefined) finish(thrown())
    else commit(target)
  })
  call.on('cancelled', () => (over = true))
}
