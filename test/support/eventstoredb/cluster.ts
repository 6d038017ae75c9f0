/** The nodes in the gossip. The cluster is simulated: all nodes serve the same log. */
import { randomUUID } from 'node:crypto'

export interface Member {
  readonly id: string
  readonly host: string
  readonly port: number
  alive: boolean
}

export class Cluster {
  readonly members: Array<Member> = []
  leader: Member | undefined

  readonly join = (host: string, port: number): Member => {
    const known = this.members.find((member) => member.host === host && member.port === port)
    if (known !== undefined) {
      known.alive = true
      this.leader ??= known
      return known
    }
    const member = { id: randomUUID(), host, port, alive: true }
    this.members.push(member)
    this.leader ??= member
    return member
  }

  /** Makes the node the leader. With `undefined` there is no leader: the cluster is electing. */
  readonly elect = (member: Member | undefined): void => {
    this.leader = member
  }
}
