/** The effects of events on registered agents. */
import type { EventOf, QueueEvent } from '../model/events.js'
import type { Tables } from '../state/tables.js'

export const agentRegistered = (tables: Tables, event: EventOf<'AgentRegistered'>): void => {
  const { endsAt, ...agent } = event.data
  tables.agents.register({ ...agent, ttlMs: endsAt - event.at, seenAt: event.at, endsAt })
  tables.ready.wakeHeldBack()
}

export const agentTerminated = (tables: Tables, { data: { agent } }: EventOf<'AgentTerminated'>): void => {
  tables.agents.byName.delete(agent)
  tables.ready.wakeHeldBack()
}

/** The agent whose own action the event records: it claimed, sent a heartbeat or reported. `ClaimExpired` has no such agent. */
export const speakerOf = (event: QueueEvent): string | undefined => {
  switch (event.type) {
    case 'Claimed':
    case 'LeaseExtended':
    case 'MarkedIncomplete':
    case 'Completed':
    case 'Failed':
    case 'RateLimited':
    case 'Released':
    case 'ClaimReturned':
    case 'TaskParked':
      return event.data.agent
    default:
      return undefined
  }
}
