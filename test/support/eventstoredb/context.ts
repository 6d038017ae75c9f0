/** What every service needs of the server it belongs to. */
import type { Metadata } from '@grpc/grpc-js'
import type { Cluster, Member } from './cluster.js'
import type { Faults } from './faults.js'
import type { Store } from './store.js'
import { notLeader, notReady, type RpcError } from './rpc-errors.js'

export interface Limits {
  /** One append: bytes of data. */
  readonly appendBytesMax: number
  /** From the first message of a batch append to its last. */
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
  /** Takes note of a subscription that was asked for. */
  readonly subscribed: (subscription: Subscribed) => void
  /** Cuts the connection of the peer, given as `address:port`. */
  readonly drop: (peer: string) => void
}

export interface Subscribed {
  readonly stream: string
  /** The last revision that the subscriber has, or thinks of. */
  readonly from: number | 'start' | 'end'
}

/** `no-batch` and `unimplemented` are what older servers are like. */
export type Features = 'all' | 'no-batch' | 'unimplemented'

/** Whether nobody waits for the answer any more: such a call is not begun. */
export const givenUp = (call: { readonly cancelled: boolean; readonly getDeadline: () => Date | number }): boolean =>
  call.cancelled || Number(call.getDeadline()) <= Date.now()

/** Why this node does not serve the call, if it does not. */
export const refusal = ({ cluster, self }: Context, headers: Metadata): RpcError | undefined => {
  if (cluster.leader === undefined) return notReady()
  const needsLeader = headers.get('requires-leader')[0] === 'true'
  return needsLeader && cluster.leader !== self() ? notLeader(cluster.leader.host, cluster.leader.port) : undefined
}
