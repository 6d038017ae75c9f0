/** BatchAppendResp: errors are a google.rpc.Status with one of EventStoreDB's own messages as details. */
import { streamIdentifier } from './log-event.js'
import { empty, message, text, uint, uint64Max } from './protobuf.js'
import type { Stated } from './requests.js'
import type { Outcome } from './writer.js'

const status = (code: number, name: string, details: Buffer, type = `event_store.client.${name}`): Buffer =>
  message(2, uint(1, code), text(2, name), message(3, text(1, `type.googleapis.com/${type}`), message(2, details)))

const expectedField = (expected: Stated): Buffer => {
  switch (expected) {
    case 'any': return empty(4)
    case 'stream_exists': return empty(5)
    case uint64Max:
    case 'no_stream': return empty(6)
    default: return uint(3, expected)
  }
}

const wrongVersion = (actual: number, expected: Stated): Buffer =>
  status(6, 'WrongExpectedVersion', Buffer.concat([actual < 0 ? empty(2) : uint(1, actual), expectedField(expected)]))

const written = (revision: number, position: number | undefined): Buffer =>
  message(3,
    revision < 0 ? empty(2) : uint(1, revision),
    position === undefined ? empty(4) : message(3, uint(1, position), uint(2, position)))

const deleted = (stream: string): Buffer => status(5, 'StreamDeleted', streamIdentifier(1, stream))

export const badRequest = (text_: string): Buffer => status(3, 'BadRequest', text(1, text_))
export const timeout = (): Buffer => status(4, 'Timeout', Buffer.alloc(0))
/** An unexpected error, like {@link notHandled} with another code. */
export const internalError = (): Buffer => status(13, 'Internal error.', Buffer.alloc(0), 'google.protobuf.Empty')
export const tooLarge = (bytesMax: number): Buffer => status(3, 'MaximumAppendSizeExceeded', uint(1, bytesMax))
/** NotReady and similar errors have no details message that the client would recognise. */
export const notHandled = (text_: string): Buffer => status(0, text_, Buffer.alloc(0), 'google.protobuf.Empty')

export const resultOf = (outcome: Outcome, stream: string, expected: Stated): Buffer => {
  switch (outcome.kind) {
    case 'written': return written(outcome.revision, outcome.position)
    case 'wrong_revision': return wrongVersion(outcome.actual, expected)
    case 'deleted': return deleted(stream)
  }
}

export const batchReply = (correlationId: string, stream: string, result: Buffer): Buffer =>
  Buffer.concat([message(1, text(2, correlationId)), result, streamIdentifier(4, stream)])
