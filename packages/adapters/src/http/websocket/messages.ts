/**
 * The messages of an event (TQM-WS). They follow from the event and the previous one alone, except for a queued task's position and the number of
 * free slots. So a client that reconnects gets the same messages again. Most events have one message or none.
 */
import { clipped } from '@daybook/core'
import { parseObject, readStamp } from '../../engine/index.js'
import type { RecordedEvent } from '../../store/index.js'
import type { MessageEvent } from './message-events.js'

export interface Message {
  readonly event: string
  /** When it happened, ISO 8601. */
  readonly timestamp: string
  /** The revision of the event. Several messages may have the same. */
  readonly revision: number
  readonly payload: Readonly<Record<string, unknown>>
}

type Payload = Message['payload']
type Said = readonly [event: MessageEvent, payload: Payload]
type Data = Readonly<Record<string, unknown>>

/** The greatest length of a description or a summary, in characters. */
const textMax = 1_000

/** The parts of the present state that messages contain. */
export interface Present {
  /** The places of tasks in the order of claims; at capacity, in the order of `queued_tasks`. `null` for tasks that are not in that order. */
  readonly positions: ReadonlyMap<string, number | null>
  /** How many agents may still start; at least 0. */
  readonly slotsAvailable: number
}

/** `before`: the previous event in the log. `present`: `undefined` if it is not known. */
export const messagesOf = (recorded: RecordedEvent, before: RecordedEvent | undefined, present: Present | undefined): ReadonlyArray<Message> => {
  const said = saidBy(recorded, before, present)
  if (said.length === 0) return said as []
  const stamp = readStamp(recorded.metadata, recorded.created)
  const timestamp = new Date(stamp?.at ?? Date.parse(recorded.created)).toISOString()
  return said.map(([event, payload]) => ({ event, timestamp, revision: recorded.revision, payload }))
}

const saidBy = ({ type, data: text }: RecordedEvent, before: RecordedEvent | undefined, present: Present | undefined): ReadonlyArray<Said> => {
  if (!spoken.has(type)) return []
  const data = parseObject(text)
  if (data === undefined) return []
  const { task, agent } = data
  switch (type) {
    case 'TaskEnqueued': {
      const description = descriptionOf(data)
      return [
        ['task_created', { task_id: task, description }],
        ['task_queued', { task_id: task, description, queue_position: present?.positions.get(String(task)) ?? null, slots_available: present?.slotsAvailable ?? null }],
      ]
    }
    case 'Completed':
      return [['task_completed', { task_id: task, agent_id: agent, status: 'COMPLETED', summary: summaryOf(data) }], idle(data)]
    case 'DeadLettered': {
      const lost = before === undefined ? undefined : parseObject(before.data)
      return [['task_completed', { task_id: task, agent_id: lost?.task === task ? (lost?.agent ?? null) : null, status: 'FAILED', summary: String(data.reason) }]]
    }
    case 'Cancelled': {
      const ended: Said = ['task_completed', { task_id: task, agent_id: agent ?? null, status: 'CANCELLED', summary: clip(data.reason) }]
      return agent === undefined ? [ended] : [['lease_lost', { task_id: task, agent_id: agent, cause: 'cancelled' }], ended, idle(data)]
    }
    case 'TaskBumped':
      return [['task_priority_bumped', { task_id: task, agent_id: null }]]
    case 'AgentRegistered':
      return [['agent_created', { agent_id: agent, task_id: null }]]
    case 'Claimed':
      return [['agent_status_changed', { agent_id: agent, status: 'working', task_id: task }]]
    case 'TaskParked':
      return [['agent_status_changed', { agent_id: agent, status: 'waiting', task_id: task }]]
    case 'AgentTerminated':
      return [['agent_status_changed', { agent_id: agent, status: 'terminated', task_id: null }]]
    case 'Failed':
    case 'RateLimited':
    case 'Released':
    case 'ClaimReturned':
      return [idle(data)]
    case 'ClaimExpired':
      return [['lease_lost', { task_id: task, agent_id: agent, cause: data.cause }], idle(data)]
    case 'ClaimRevoked':
      return [['lease_lost', { task_id: task, agent_id: agent, cause: 'agent-terminated' }]]
    case 'BreakerOpened':
    case 'BreakerHalfOpened':
    case 'BreakerClosed':
      return [['breaker_changed', { task_type: data.taskType, state: breakerStates[type], cause: data.cause ?? null, reason: data.reason ?? null }]]
    case 'SlowdownSignalled':
      return [['slowdown', { task_type: data.taskType, agent_id: agent, until: typeof data.until === 'number' ? new Date(data.until).toISOString() : null }]]
    case 'AlertRaised':
      return [['alert_raised', { key: data.key, kind: data.kind, message: data.message }]]
    case 'AlertCleared':
      return [['alert_cleared', { key: data.key }]]
    default:
      return []
  }
}

/** The event types with messages. Other events are not parsed. */
const spoken: ReadonlySet<string> = new Set([
  'TaskEnqueued', 'Completed', 'DeadLettered', 'Cancelled', 'TaskBumped', 'AgentRegistered', 'Claimed', 'TaskParked', 'AgentTerminated', 'Failed', 'RateLimited', 'Released',
  'ClaimReturned', 'ClaimExpired', 'ClaimRevoked', 'BreakerOpened', 'BreakerHalfOpened', 'BreakerClosed', 'SlowdownSignalled', 'AlertRaised', 'AlertCleared',
])

const breakerStates = { BreakerOpened: 'open', BreakerHalfOpened: 'half-open', BreakerClosed: 'closed' } as const

/** The claim has ended. An agent with several tasks still works on the others. */
const idle = ({ agent, task }: Data): Said => ['agent_status_changed', { agent_id: agent, status: 'idle', task_id: task }]

const clip = (value: unknown): string => {
  const text = typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value)
  return clipped(text, textMax)
}

const contentIn = ({ content }: Data): Data => (typeof content === 'object' && content !== null ? (content as Data) : {})
const descriptionOf = (data: Data): string => clip(contentIn(data).description)
const summaryOf = (data: Data): string => {
  const { status, output } = contentIn(data)
  return clip(output ?? status)
}
