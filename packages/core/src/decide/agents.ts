/** Agents register what they can take (TQM-ASSIGN-001), and operators terminate agents. */
import * as E from 'fp-ts/lib/Either.js'
import { agentsMax, type RegisteredAgent } from '../state/agent-register.js'
import type { CommandOf } from '../model/commands.js'
import type { QueueEvent } from '../model/events.js'
import { refusalOfAgent } from '../model/isolation.js'
import { reject } from '../model/rejections.js'
import { toInstant } from '../model/scalars.js'
import { isHeld } from '../records/records.js'
import type { Decider } from './decision.js'

/** Default length of a registration after the agent was last heard of, in seconds. */
export const registrationSeconds = 600

export const decideRegisterAgent: Decider<'RegisterAgent'> = (command, tables, { at }) => {
  const { agent, types, phases, skills, tenant, maxTasks, ttlSeconds = registrationSeconds } = command
  const refused = refusalOfAgent(agent, tenant, tables)
  if (refused !== undefined) return E.left(refused)
  const known = tables.agents.at(agent, at)
  const ttlMs = Math.ceil(ttlSeconds * 1_000)
  if (known !== undefined && isSame(command, known) && known.ttlMs === ttlMs && known.endsAt - at > ttlMs / 2) return E.right([])
  if (!tables.agents.byName.has(agent) && !tables.agents.hasRoom(at)) {
    return E.left(reject('conflict', `queue ${tables.queue} has ${agentsMax} registered agents, which is the most: terminate those that are gone, or let them register for less than ttlSeconds ${ttlSeconds}`))
  }
  const abilities = {
    ...(types === undefined ? {} : { types }),
    ...(phases === undefined ? {} : { phases }),
    ...(skills === undefined ? {} : { skills }),
    ...(tenant === undefined ? {} : { tenant }),
    ...(maxTasks === undefined ? {} : { maxTasks }),
  }
  return E.right([{ type: 'AgentRegistered', at, data: { agent, ...abilities, endsAt: toInstant(at + ttlMs) } }])
}

/** Whether the agent registers exactly what it is registered for. */
const isSame = (command: CommandOf<'RegisterAgent'>, known: RegisteredAgent): boolean =>
  JSON.stringify(wordsOf(command)) === JSON.stringify(wordsOf(known))
const wordsOf = ({ types, phases, skills, tenant, maxTasks }: Omit<RegisteredAgent, 'agent' | 'ttlMs' | 'seenAt' | 'endsAt'>): ReadonlyArray<unknown> =>
  [types, phases, skills, tenant, maxTasks]

export const decideTerminateAgent: Decider<'TerminateAgent'> = (command, tables, { at }) => {
  const { agent: ended, reason } = command
  const leases = tables.leases.get(ended)
  if (leases === undefined && tables.agents.at(ended, at) === undefined && !tables.sleepers.has(ended)) {
    return E.left(reject('not-found', `no agent ${ended} is registered in queue ${tables.queue}, holds a task of it, or waits after a rate limit`))
  }
  const events: Array<QueueEvent> = [{ type: 'AgentTerminated', at, data: { agent: ended, reason } }]
  for (const task of [...(leases ?? [])].sort((a, b) => a.number - b.number)) {
    if (task.lease === null || !isHeld(task)) continue
    const { agent, token } = task.lease
    events.push({ type: 'ClaimRevoked', at, data: { task: task.id, agent, token, reason } })
  }
  return E.right(events)
}
