/** Requests of a BatchAppend call. Events are marked as JSON, so that EventStoreDB's own tools show them. */
import type { EventToAppend } from '../store/index.js'
import { BatchAppendReq, Empty, StreamIdentifier, Timestamp, UUID } from './stubs.js'

/**
 * The server gives an append up at this time by its own clock, or at its own time-out, whichever comes first. It is a day ahead, so that a difference
 * between the clocks makes no append late.
 */
const deadlineMs = 86_400_000

const uuid = (text: string): InstanceType<typeof UUID> => new UUID().setString(text)

export const streamIdentifier = (stream: string): InstanceType<typeof StreamIdentifier> =>
  new StreamIdentifier().setStreamName(Buffer.from(stream))

const proposed = ({ id, type, data, metadata }: EventToAppend): InstanceType<typeof BatchAppendReq.ProposedMessage> => {
  const message = new BatchAppendReq.ProposedMessage()
    .setId(uuid(id))
    .setData(Buffer.from(data))
    .setCustomMetadata(Buffer.from(metadata))
  message.getMetadataMap().set('type', type).set('content-type', 'application/json')
  return message
}

export const appendRequest = (
  correlationId: string,
  stream: string,
  events: ReadonlyArray<EventToAppend>,
  expected: number | 'no_stream' | 'any',
): InstanceType<typeof BatchAppendReq> => {
  const options = new BatchAppendReq.Options()
    .setStreamIdentifier(streamIdentifier(stream))
    .setDeadline(Timestamp.fromDate(new Date(Date.now() + deadlineMs)))
  if (expected === 'no_stream') options.setNoStream(new Empty())
  else if (expected === 'any') options.setAny(new Empty())
  else options.setStreamPosition(String(expected))
  return new BatchAppendReq()
    .setCorrelationId(uuid(correlationId))
    .setOptions(options)
    .setProposedMessagesList(events.map(proposed))
    .setIsFinal(true)
}
