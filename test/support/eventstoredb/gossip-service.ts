/** Gossip: the nodes and the leader. */
import type { ServerUnaryCall, sendUnaryData } from '@grpc/grpc-js'
import type { Member } from './cluster.js'
import type { Context } from './context.js'
import { message, text, uint } from './protobuf.js'
import { unavailable } from './rpc-errors.js'

const state = { unknown: 2, follower: 6, leader: 8 }

const memberInfo = (member: Member, leader: Member | undefined): Buffer =>
  message(1,
    message(1, text(2, member.id)),
    uint(2, Date.now() * 10_000),
    uint(3, leader === undefined ? state.unknown : member === leader ? state.leader : state.follower),
    uint(4, member.alive ? 1 : 0),
    message(5, text(1, member.host), uint(2, member.port)))

export const gossip = (context: Context) => (call: ServerUnaryCall<unknown, Buffer>, done: sendUnaryData<Buffer>): void => {
  const { members, leader } = context.cluster
  const answer = (): void => done(null, Buffer.concat(members.map((member) => memberInfo(member, leader))))
  const fault = context.faults.take('gossip', '')
  switch (fault?.kind) {
    case 'drop': return context.drop(call.getPeer())
    case 'no-reply': return
    case 'slow': {
      setTimeout(answer, fault.afterMs)
      return
    }
    case 'unavailable': return done(unavailable())
    default: return answer()
  }
}
