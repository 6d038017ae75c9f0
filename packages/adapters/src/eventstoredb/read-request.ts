import { streamIdentifier } from './append-request.js'
import { Empty, ReadReq } from './stubs.js'

const forStream = (stream: string, from: string | 'start' | 'end'): InstanceType<typeof ReadReq.Options> => {
  const where = new ReadReq.Options.StreamOptions().setStreamIdentifier(streamIdentifier(stream))
  if (from === 'start') where.setStart(new Empty())
  else if (from === 'end') where.setEnd(new Empty())
  else where.setRevision(from)
  return new ReadReq.Options()
    .setStream(where)
    .setUuidOption(new ReadReq.Options.UUIDOption().setString(new Empty()))
    .setNoFilter(new Empty())
    .setResolveLinks(false)
}

const forwards = 0
const backwards = 1

/** `count` events from this revision on, inclusive. */
export const pageRequest = (
  stream: string,
  from: number | 'end',
  direction: 'forwards' | 'backwards',
  count: number,
): InstanceType<typeof ReadReq> =>
  new ReadReq().setOptions(
    forStream(stream, String(from)).setReadDirection(direction === 'forwards' ? forwards : backwards).setCount(String(count)),
  )

/** All events after this revision (-1 for all), and later events as they come. */
export const subscriptionRequest = (stream: string, behind: number): InstanceType<typeof ReadReq> =>
  new ReadReq().setOptions(
    forStream(stream, behind < 0 ? 'start' : String(behind))
      .setReadDirection(forwards)
      .setSubscription(new ReadReq.Options.SubscriptionOptions()),
  )
