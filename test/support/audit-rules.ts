/**
 * What the log must hold of a command that was acknowledged (INV-19): which event says it, what may follow from that, what the reply
 * repeats of it, and when it was right to append nothing. One rule for each type of command; without one, this does not compile.
 */
import {
  cancellableOf,
  type CommandOf,
  type CommandType,
  deadLetters,
  duplicateOf,
  type Enqueued,
  type EventOf,
  type EventType,
  headOf,
  listTasks,
  nextDue,
  patchSettings,
  type QueueEvent,
  type QueueState,
  type Replies,
} from '@daybook/core'
import { isDeepStrictEqual } from 'node:util'

export interface Acknowledged<T extends CommandType> {
  readonly command: CommandOf<T>
  readonly value: Replies[T]
  /** Its events, in order. */
  readonly events: ReadonlyArray<QueueEvent>
  /** All events up to the revision that was told. */
  readonly past: () => ReadonlyArray<QueueEvent>
  /** The queue at that revision. */
  readonly state: () => QueueState
}

interface Rule<T extends CommandType> {
  /** Whether the first of its events says it. */
  readonly says: (event: QueueEvent, command: CommandOf<T>) => boolean
  /** What may come after that. */
  readonly follows?: ReadonlyArray<EventType>
  readonly repliesSo?: (told: Acknowledged<T>) => boolean
  /** Whether it was right to append nothing. Without this it never is. */
  readonly rightlyNothing?: (told: Acknowledged<T>) => boolean
}

/** True when the log holds what was acknowledged. */
export const isInTheLog = <T extends CommandType>(told: Acknowledged<T>): boolean => {
  const rule: Rule<T> = rules[told.command.type as T]
  const [first, ...more] = told.events
  const isSaid = first === undefined ? rule.rightlyNothing?.(told) === true : rule.says(first, told.command)
  return isSaid && more.every(({ type }) => rule.follows?.includes(type) === true) && (rule.repliesSo?.(told) ?? true)
}

// ------------------------------------------------------------------ one rule each

const tasksIn = (events: ReadonlyArray<QueueEvent>, ...types: ReadonlyArray<EventType>): ReadonlyArray<string> =>
  events.flatMap((event) => (types.includes(event.type) && 'task' in event.data ? [event.data.task] : []))

type Claimant = { readonly task: string; readonly agent: string; readonly token: number }
/** An event of one of these types, about the very claim that the command speaks of. */
const saysOfClaim = (...types: ReadonlyArray<EventType>) => (event: QueueEvent, { task, agent, token }: Claimant): boolean => {
  const data = event.data as Partial<Claimant>
  return types.includes(event.type) && data.task === task && data.agent === agent && data.token === token
}

type Arrival = EventOf<'TaskEnqueued'> | EventOf<'TaskImported'>
const isArrival = (event: QueueEvent): event is Arrival => event.type === 'TaskEnqueued' || event.type === 'TaskImported'

/** Each task of the request has its own event, or stands for one that is there, by its id or its key. */
const eachArrived = ({ command, value, events, past }: Acknowledged<'Enqueue'> | Acknowledged<'Import'>): boolean => {
  const answers = value as ReadonlyArray<Enqueued>
  const fresh = answers.filter(({ duplicate }) => !duplicate).map(({ id, number }) => `${id} ${number}`)
  const arrived = events.filter(isArrival).map(({ data }) => `${data.task} ${data.number}`)
  if (answers.length !== command.tasks.length || fresh.sort().join() !== arrived.sort().join()) return false
  return answers.every(({ id, duplicate }, index) => {
    const asked = command.tasks[index]!
    if (!duplicate) return id === asked.id
    return past().some((event) => isArrival(event) && event.data.task === id && (id === asked.id || event.data.idempotencyKey === asked.idempotencyKey))
  })
}

const isReviewOf = (type: 'Requeued' | 'Discarded') => (event: QueueEvent, { task, reviewer }: CommandOf<'Retry'> | CommandOf<'Discard'>): boolean =>
  event.type === type && event.data.reviewer === reviewer && (task === undefined || task === event.data.task)
/** A review by filter may find nothing; one of a task that is named does not. */
const stillDead = ({ command, state }: Acknowledged<'Retry'> | Acknowledged<'Discard'>) => deadLetters(state(), command.filter ?? {}, Number.MAX_SAFE_INTEGER)

const isManual = (type: 'BreakerOpened' | 'BreakerClosed') => (event: QueueEvent, { taskType }: CommandOf<'OpenBreaker'> | CommandOf<'CloseBreaker'>): boolean =>
  event.type === type && event.data.taskType === taskType && event.data.cause === 'manual'

/** What time brings about. */
const ticks: ReadonlyArray<EventType> = ['BreakerHalfOpened', 'TaskDue', 'ClaimExpired', 'DeadLettered', 'RetryScheduled', 'BreakerOpened']

const rules: { readonly [T in CommandType]: Rule<T> } = {
  Enqueue: {
    says: (event) => event.type === 'TaskEnqueued',
    follows: ['TaskEnqueued'],
    repliesSo: eachArrived,
    rightlyNothing: ({ value }) => value.every(({ duplicate }) => duplicate),
  },
  Import: {
    says: isArrival,
    follows: ['TaskEnqueued', 'TaskImported'],
    repliesSo: eachArrived,
    rightlyNothing: ({ value }) => value.every(({ duplicate }) => duplicate),
  },
  Claim: {
    says: (event) => event.type === 'Claimed',
    follows: ['Claimed'],
    repliesSo: ({ value, events, command }) => {
      const given = events.map(({ data }) => data as EventOf<'Claimed'>['data'])
      const same = (claim: (typeof value)[number], i: number): boolean => claim.task === given[i]?.task && claim.token === given[i]?.token && claim.expiresAt === given[i]?.expiresAt
      return value.length === given.length && value.every(same) && given.every(({ agent }) => agent === command.agent)
    },
    rightlyNothing: ({ value }) => value.length === 0,
  },
  Heartbeat: {
    says: saysOfClaim('LeaseExtended'),
    repliesSo: ({ value, events }) => {
      const { token, expiresAt } = (events[0] as EventOf<'LeaseExtended'>).data
      return value.token === token && value.expiresAt === expiresAt
    },
  },
  Complete: {
    says: (event, command) => saysOfClaim(command.hasReport ? 'Completed' : 'MarkedIncomplete', 'Completed')(event, command),
    follows: ['BreakerClosed'],
    repliesSo: ({ value, events }) => value.status === (events[0]?.type === 'MarkedIncomplete' ? 'incomplete' : 'completed'),
    // That very completion was acknowledged before, or should have been.
    rightlyNothing: ({ command, past }) => past().some((event) => saysOfClaim('Completed')(event, command)),
  },
  Fail: { says: saysOfClaim('Failed'), follows: ['DeadLettered', 'RetryScheduled', 'BreakerOpened'] },
  Release: {
    says: (event, command) => saysOfClaim(command.stopping === true && command.undelivered !== true ? 'ClaimReturned' : 'Released')(event, command),
    follows: ['DeadLettered', 'BreakerOpened'],
  },
  Cancel: {
    says: (event, { task }) => event.type === 'Cancelled' && event.data.task === task,
    follows: ['Cancelled'],
    repliesSo: ({ value, events }) => value.cancelled.join() === tasksIn(events, 'Cancelled').join(),
    rightlyNothing: ({ command: { task }, past }) =>
      past().some((event) => (event.type === 'Cancelled' || (event.type === 'TaskImported' && event.data.status === 'cancelled')) && event.data.task === task),
  },
  CancelAll: {
    says: (event, { reason }) => event.type === 'Cancelled' && event.data.reason === reason,
    follows: ['Cancelled'],
    repliesSo: ({ value, events }) => value.cancelled.join() === tasksIn(events, 'Cancelled').join(),
    rightlyNothing: ({ command: { filter, after }, state }) => listTasks(state(), cancellableOf(filter), 1, after).tasks.length === 0,
  },
  Retry: {
    says: isReviewOf('Requeued'),
    follows: ['Requeued'],
    repliesSo: ({ value, events }) => value.retried.join() === tasksIn(events, 'Requeued').join(),
    rightlyNothing: (told) => told.command.task === undefined && stillDead(told).every(({ idempotencyKey }) => duplicateOf(told.state(), idempotencyKey) !== undefined),
  },
  Discard: {
    says: isReviewOf('Discarded'),
    follows: ['Discarded', 'Cancelled'],
    repliesSo: ({ value, events }) => value.discarded.join() === tasksIn(events, 'Discarded').join() && value.cancelled.join() === tasksIn(events, 'Cancelled').join(),
    rightlyNothing: (told) => told.command.task === undefined && stillDead(told).length === 0,
  },
  OpenBreaker: { says: isManual('BreakerOpened') },
  CloseBreaker: { says: isManual('BreakerClosed') },
  TerminateAgent: {
    says: (event, { agent }) => event.type === 'AgentTerminated' && event.data.agent === agent,
    follows: ['ClaimRevoked'],
    repliesSo: ({ value, events }) => value.tasks.map(({ id }) => id).sort().join() === [...tasksIn(events, 'ClaimRevoked')].sort().join(),
  },
  Configure: {
    says: (event, { patch }) => event.type === 'QueueConfigured' && isDeepStrictEqual(event.data.patch, patch),
    repliesSo: ({ value, state }) => isDeepStrictEqual(value, headOf(state()).settings),
    rightlyNothing: ({ command, state }) => isDeepStrictEqual(patchSettings(headOf(state()).settings, command.patch), headOf(state()).settings),
  },
  Pause: { says: (event) => event.type === 'QueuePaused', rightlyNothing: ({ state }) => headOf(state()).paused !== null },
  Resume: { says: (event) => event.type === 'QueueResumed', rightlyNothing: ({ state }) => headOf(state()).paused === null },
  DeleteQueue: { says: (event) => event.type === 'QueueDeleted', rightlyNothing: ({ state }) => headOf(state()).deleted !== null },
  Tick: {
    says: ({ type }) => ticks.includes(type),
    follows: ticks,
    rightlyNothing: ({ state }) => (nextDue(state()) ?? Number.POSITIVE_INFINITY) > headOf(state()).at,
  },
}
