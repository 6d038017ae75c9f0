/** The parts of the server that every service needs. */
import type { Metadata } from '@grpc/grpc-js'
import type { Cluster, Member } from './cluster.js'
import type { Faults } from './faults.js'
import type { Store } from './store.js'
import { notLeader, notReady, type RpcError } from './rpc-errors.js'

export interface Limits {
  /** Bytes of data in one append. */
  readonly appendBytesMax: number
  /** Time from the first message of a batch append to its last. */
  readonly writeTimeoutMs: number
  /** Live events that a subscriber may leave unread. */
  readonly unreadEventsMax: number
}

export interface Context {
  readonly store: Store
  readonly faults: Faults
  readonly cluster: Cluster
  readonly self: () => Member
  readonly limits: Limits
  readonly features: () => Features
  /** Called for each requested subscription. */
  readonly subscribed: (subscription: Subscribed) => void
  /** Closes the connection of the peer `address:port`. */
  readonly drop: (peer: string) => void
}

export interface Subscribed {
  readonly stream: string
  /** The revision after which the subscription starts. */
  readonly from: number | 'start' | 'end'
}

/** `no-batch` and `unimplemented` simulate older servers. */
export type Features = 'all' | 'no-batch' | 'unimplemented'

/** Whether the caller no longer waits for the answer. Such a call is not started. */
export const givenUp = (call: { readonly cancelled: boolean; readonly getDeadline: () => Date | number }): boolean =>
  call.cancelled || Number(call.getDeadline()) <= Date.now()

/** The reason why this node does not serve the call, if there is one. */
export const refusal = ({ cluster, self }: Context, headers: Metadata): RpcError | undefined => {
  if (cluster.leader === undefined) return notReady()
  const needsLeader = headers.get('requires-leader')[0] === 'true'
  return needsLeader && cluster.leader !== self() ? notLeader(cluster.leader.host, cluster.leader.port) : undefined
}
