/**
 * What the log must contain for an acknowledged command (INV-19): the event that records it, the events that may follow, what the reply must repeat,
 * and when it is correct to append nothing. There is one rule per type of command; a missing rule does not compile.
 */
import {
  batchOf,
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
  scheduleOf,
  taskOf,
} from '@daybook/core'
import { isDeepStrictEqual } from 'node:util'

export interface Acknowledged<T extends CommandType> {
  readonly command: CommandOf<T>
  readonly value: Replies[T]
  /** The command's events, in order. */
  readonly events: ReadonlyArray<QueueEvent>
  /** All events up to the revision that was acknowledged. */
  readonly past: () => ReadonlyArray<QueueEvent>
  /** The queue at that revision. */
  readonly state: () => QueueState
}

interface Rule<T extends CommandType> {
  /** Whether the command's first event records it. */
  readonly records: (event: QueueEvent, command: CommandOf<T>) => boolean
  /** The events that may follow the first one. */
  readonly follows?: ReadonlyArray<EventType>
  readonly replyMatches?: (acknowledged: Acknowledged<T>) => boolean
  /** Whether appending nothing was correct. Default: never. */
  readonly mayAppendNothing?: (acknowledged: Acknowledged<T>) => boolean
}

/** Whether the log contains what was acknowledged. */
export const isInTheLog = <T extends CommandType>(acknowledged: Acknowledged<T>): boolean => {
  const rule: Rule<T> = rules[acknowledged.command.type as T]
  const [first, ...more] = acknowledged.events
  const isRecorded = first === undefined ? rule.mayAppendNothing?.(acknowledged) === true : rule.records(first, acknowledged.command)
  return isRecorded && more.every((event) => rule.follows?.includes(event.type) === true || endsBatch(event)) && (rule.replyMatches?.(acknowledged) ?? true)
}

/** Whatever ends the last task of a batch finishes it, and enqueues its callback. */
const endsBatch = (event: QueueEvent): boolean => event.type === 'BatchFinished' || (event.type === 'TaskEnqueued' && event.data.callbackOf !== undefined)

// ------------------------------------------------------------------ the rules

const tasksIn = (events: ReadonlyArray<QueueEvent>, ...types: ReadonlyArray<EventType>): ReadonlyArray<string> =>
  events.flatMap((event) => (types.includes(event.type) && 'task' in event.data ? [event.data.task] : []))

type Claimant = { readonly task: string; readonly agent: string; readonly token: number }
/** Whether the event has one of these types and is about the claim that the command names. */
const recordsClaim = (...types: ReadonlyArray<EventType>) => (event: QueueEvent, { task, agent, token }: Claimant): boolean => {
  const data = event.data as Partial<Claimant>
  return types.includes(event.type) && data.task === task && data.agent === agent && data.token === token
}

type Arrival = EventOf<'TaskEnqueued'> | EventOf<'TaskImported'>
const isArrival = (event: QueueEvent): event is Arrival => event.type === 'TaskEnqueued' || event.type === 'TaskImported'

/** Each task of the request has its own event, or is a duplicate of an earlier task by id or key. */
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

type Review = CommandOf<'Retry'> | CommandOf<'Discard'> | CommandOf<'Snooze'> | CommandOf<'Escalate'>
const isReviewOf = (type: 'Requeued' | 'Discarded' | 'Snoozed' | 'Escalated') => (event: QueueEvent, { task, reviewer }: Review): boolean =>
  event.type === type && event.data.reviewer === reviewer && (task === undefined || task === event.data.task)
/** The dead letters that match the filter. A review by filter may find none; a review of a named task may not. */
const stillDead = ({ command, state }: Acknowledged<'Retry'> | Acknowledged<'Discard'> | Acknowledged<'Snooze'> | Acknowledged<'Escalate'>) => deadLetters(state(), command.filter ?? {}, Number.MAX_SAFE_INTEGER)

const isManual = (type: 'BreakerOpened' | 'BreakerClosed') => (event: QueueEvent, { taskType }: CommandOf<'OpenBreaker'> | CommandOf<'CloseBreaker'>): boolean =>
  event.type === type && event.data.taskType === taskType && event.data.cause === 'manual'

const isCallback = (event: QueueEvent, { callbackKey }: CommandOf<'Callback'>): boolean => event.type === 'CallbackReceived' && event.data.callbackKey === callbackKey

/** Events that may follow from a completion's findings. */
const spawns: ReadonlyArray<EventType> = ['TaskEnqueued', 'ValidationFailed', 'SpawnProposed', 'LoopHalted']

/** Events that a tick may append. */
const ticks: ReadonlyArray<EventType> = ['BreakerHalfOpened', 'LimitOpened', 'SlowdownEnded', 'AgentResumed', 'Requeued', 'SnoozeLapsed', 'RedriveAdvanced', 'RedriveStopped', 'TaskDue', 'ParkTimedOut', 'ClaimExpired', 'DeadLettered', 'LoopHalted', 'RetryScheduled', 'BreakerOpened', 'ScheduleRan', 'ScheduleSkipped', 'ScheduleHeld', 'TaskEnqueued', 'AlertRaised', 'AlertCleared']

const setsSchedule = (event: QueueEvent, { name }: { readonly name: string }): boolean => event.type === 'ScheduleSet' && event.data.name === name

const rules: { readonly [T in CommandType]: Rule<T> } = {
  Enqueue: {
    records: (event) => event.type === 'TaskEnqueued',
    follows: ['TaskEnqueued', 'LimitSet'],
    replyMatches: eachArrived,
    mayAppendNothing: ({ value }) => value.every(({ duplicate }) => duplicate),
  },
  Import: {
    records: isArrival,
    follows: ['TaskEnqueued', 'TaskImported', 'LimitSet'],
    replyMatches: eachArrived,
    mayAppendNothing: ({ value }) => value.every(({ duplicate }) => duplicate),
  },
  Claim: {
    records: (event) => event.type === 'Claimed',
    follows: ['Claimed'],
    replyMatches: ({ value, events, command }) => {
      const given = events.map(({ data }) => data as EventOf<'Claimed'>['data'])
      const same = (claim: (typeof value)[number], i: number): boolean => claim.task === given[i]?.task && claim.token === given[i]?.token && claim.expiresAt === given[i]?.expiresAt
      return value.length === given.length && value.every(same) && given.every(({ agent }) => agent === command.agent)
    },
    mayAppendNothing: ({ value }) => value.length === 0,
  },
  Heartbeat: {
    records: recordsClaim('LeaseExtended'),
    replyMatches: ({ value, events }) => {
      const { token, expiresAt } = (events[0] as EventOf<'LeaseExtended'>).data
      return value.token === token && value.expiresAt === expiresAt
    },
  },
  Complete: {
    // The events that the completion spawned come before it.
    records: (event, command) =>
      recordsClaim(command.hasReport ? 'Completed' : 'MarkedIncomplete', 'Completed')(event, command) || (command.found !== undefined && spawns.includes(event.type)),
    follows: ['BreakerClosed', 'Completed', ...spawns],
    replyMatches: ({ command, value, events }) => {
      const isRepeated = events.length === 0
      const isRecorded = isRepeated || events.some((event) => recordsClaim('Completed', 'MarkedIncomplete')(event, command))
      const isSpawned = isRepeated || command.found === undefined || (value.spawned ?? []).join() === tasksIn(events, 'TaskEnqueued').join()
      return isRecorded && isSpawned && value.status === (events[0]?.type === 'MarkedIncomplete' ? 'incomplete' : 'completed')
    },
    // The same completion is in the log already.
    mayAppendNothing: ({ command, past }) => past().some((event) => recordsClaim('Completed')(event, command)),
  },
  Fail: { records: recordsClaim('Failed', 'RateLimited'), follows: ['DeadLettered', 'LoopHalted', 'RetryScheduled', 'BreakerOpened', 'SlowdownSignalled'] },
  Release: {
    records: (event, command) => recordsClaim(command.stopping === true && command.undelivered !== true ? 'ClaimReturned' : 'Released')(event, command),
    follows: ['DeadLettered', 'LoopHalted', 'BreakerOpened'],
  },
  Park: { records: recordsClaim('TaskParked'), replyMatches: ({ value }) => value.status === 'waiting' },
  Callback: {
    records: isCallback,
    replyMatches: ({ value, events }) => value.status === 'pending' && events.every(({ data }) => 'task' in data && data.task === value.task),
    // A repetition.
    mayAppendNothing: ({ command, value, past }) => past().some((event) => isCallback(event, command) && 'task' in event.data && event.data.task === value.task),
  },
  Cancel: {
    records: (event, { task }) => event.type === 'Cancelled' && event.data.task === task,
    follows: ['Cancelled'],
    replyMatches: ({ value, events }) => value.cancelled.join() === tasksIn(events, 'Cancelled').join(),
    mayAppendNothing: ({ command: { task }, past }) =>
      past().some((event) => (event.type === 'Cancelled' || (event.type === 'TaskImported' && event.data.status === 'cancelled')) && event.data.task === task),
  },
  CancelAll: {
    records: (event, { reason }) => event.type === 'Cancelled' && event.data.reason === reason,
    follows: ['Cancelled'],
    replyMatches: ({ value, events }) => value.cancelled.join() === tasksIn(events, 'Cancelled').join(),
    mayAppendNothing: ({ command: { filter, after }, state }) => listTasks(state(), cancellableOf(filter), 1, after).tasks.length === 0,
  },
  Retry: {
    // The event of a new payload comes before.
    records: (event, command) => isReviewOf('Requeued')(event, command) || (event.type === 'TaskAmended' && event.data.task === command.task && event.content === command.content),
    follows: ['Requeued'],
    replyMatches: ({ value, events }) => value.retried.join() === tasksIn(events, 'Requeued').join(),
    mayAppendNothing: (acknowledged) => acknowledged.command.task === undefined && stillDead(acknowledged).every(({ idempotencyKey }) => duplicateOf(acknowledged.state(), idempotencyKey) !== undefined),
  },
  Discard: {
    records: isReviewOf('Discarded'),
    follows: ['Discarded', 'Cancelled'],
    replyMatches: ({ value, events }) => value.discarded.join() === tasksIn(events, 'Discarded').join() && value.cancelled.join() === tasksIn(events, 'Cancelled').join(),
    mayAppendNothing: (acknowledged) => acknowledged.command.task === undefined && stillDead(acknowledged).length === 0,
  },
  Approve: {
    records: (event, { approval }) => (event.type === 'SpawnApproved' || event.type === 'GuardianReleased') && event.data.approval === approval,
    follows: ['TaskEnqueued', 'Requeued'],
    replyMatches: ({ value, events }) =>
      value.spawned.join() === tasksIn(events, 'TaskEnqueued').join() && value.retried.join() === tasksIn(events, 'Requeued').join(),
  },
  Refuse: { records: (event, { approval }) => event.type === 'SpawnRefused' && event.data.approval === approval },
  Snooze: {
    records: isReviewOf('Snoozed'),
    follows: ['Snoozed'],
    replyMatches: ({ value, events }) => value.snoozed.join() === tasksIn(events, 'Snoozed').join(),
    mayAppendNothing: (acknowledged) => acknowledged.command.task === undefined && stillDead(acknowledged).length === 0,
  },
  Escalate: {
    // A snooze ends first. The reply names the escalated ones.
    records: (event, command) => isReviewOf('Escalated')(event, command) || (event.type === 'SnoozeLapsed' && (command.task === undefined || event.data.task === command.task)),
    follows: ['SnoozeLapsed', 'Escalated'],
    replyMatches: ({ value, events }) => value.escalated.join() === tasksIn(events, 'Escalated').join(),
    mayAppendNothing: (acknowledged) => acknowledged.command.task === undefined && stillDead(acknowledged).length === 0,
  },
  Redrive: { records: (event, { perMinute }) => event.type === 'RedriveStarted' && event.data.perMinute === perMinute },
  StopRedrive: { records: (event) => event.type === 'RedriveStopped' && event.data.cause === 'by-hand' },
  OpenBreaker: { records: isManual('BreakerOpened') },
  CloseBreaker: { records: isManual('BreakerClosed') },
  Restart: {
    records: (event, { id }) => event.type === 'TaskEnqueued' && event.data.task === id,
    replyMatches: ({ value, events }) => events.length === 0 || (events[0]?.data as { readonly number?: number }).number === value.number,
    // The same request was sent before.
    mayAppendNothing: ({ command, past }) => past().some((event) => event.type === 'TaskEnqueued' && event.data.task === command.id),
  },
  AmendTask: {
    records: (event, { task, reason, content }) => event.type === 'TaskAmended' && event.data.task === task && event.data.reason === reason && event.content === content,
    replyMatches: ({ command: { task }, value, events }) => value.id === task && (value.changed.length > 0) === (events.length > 0),
    // The task had these values already.
    mayAppendNothing: ({ command: { task, content, priority }, state }) => {
      const known = taskOf(state(), task)
      return content === undefined && known !== undefined && (priority === undefined || priority === known.priority)
    },
  },
  Erase: {
    records: (event, { task, reason }) => event.type === 'TaskErased' && event.data.task === task && event.data.reason === reason,
    replyMatches: ({ command: { task }, value }) => value.id === task,
  },
  Bump: {
    records: (event, { task }) => event.type === 'TaskBumped' && event.data.task === task,
    // The task was bumped before, and waits.
    mayAppendNothing: ({ command, past }) => past().some((event) => event.type === 'TaskBumped' && event.data.task === command.task),
  },
  RegisterAgent: {
    records: (event, { agent }) => event.type === 'AgentRegistered' && event.data.agent === agent,
    replyMatches: ({ value, events }) => events.length === 0 || value.endsAt === (events[0] as EventOf<'AgentRegistered'>).data.endsAt,
    // The agent is registered for the same already.
    mayAppendNothing: ({ value, past }) => past().some((event) => event.type === 'AgentRegistered' && event.data.agent === value.agent),
  },
  SetLimit: {
    records: (event, { key }) => event.type === 'LimitSet' && event.data.limit === key,
    replyMatches: ({ value, command: { key, concurrency, rate } }) => value.key === key && value.concurrency === concurrency && JSON.stringify(value.rate) === JSON.stringify(rate),
    mayAppendNothing: ({ command: { key }, past }) => past().some((event) => event.type === 'LimitSet' && event.data.limit === key),
  },
  RemoveLimit: { records: (event, { key }) => event.type === 'LimitRemoved' && event.data.limit === key },
  TerminateAgent: {
    records: (event, { agent }) => event.type === 'AgentTerminated' && event.data.agent === agent,
    follows: ['ClaimRevoked'],
    replyMatches: ({ value, events }) => value.tasks.map(({ id }) => id).sort().join() === [...tasksIn(events, 'ClaimRevoked')].sort().join(),
  },
  Configure: {
    records: (event, { patch }) => event.type === 'QueueConfigured' && isDeepStrictEqual(event.data.patch, patch),
    replyMatches: ({ value, state }) => isDeepStrictEqual(value, headOf(state()).settings),
    mayAppendNothing: ({ command, state }) => isDeepStrictEqual(patchSettings(headOf(state()).settings, command.patch), headOf(state()).settings),
  },
  CreateSchedule: {
    records: setsSchedule,
    replyMatches: ({ command, value, state }) => value.name === command.name && value.task.type === scheduleOf(state(), command.name)?.task.type,
    mayAppendNothing: ({ command, state }) => scheduleOf(state(), command.name) !== undefined,
  },
  ChangeSchedule: { records: setsSchedule, mayAppendNothing: ({ command, state }) => scheduleOf(state(), command.name) !== undefined },
  CreateBatch: {
    records: (event, { id, on = 'finished' }) => event.type === 'BatchCreated' && event.data.batch === id && event.data.on === on,
    follows: ['TaskEnqueued', 'LimitSet', 'BatchClosed'],
    replyMatches: ({ command, value, events }) => value.batch.id === command.id && value.results.length === command.tasks.length && value.results.filter(({ duplicate }) => !duplicate).length === events.filter((event) => event.type === 'TaskEnqueued' && event.data.batchId === command.id).length,
    mayAppendNothing: ({ command, state }) => batchOf(state(), command.id) !== undefined,
  },
  CloseBatch: {
    records: (event, { id }) => event.type === 'BatchClosed' && event.data.batch === id,
    replyMatches: ({ command, value }) => value.id === command.id && value.state !== 'open',
    mayAppendNothing: ({ command, state }) => (batchOf(state(), command.id)?.state ?? 'open') !== 'open',
  },
  CancelBatch: {
    // The same request again goes on with the tasks that are left.
    records: (event, { id, reason }) => (event.type === 'BatchCancelled' && event.data.batch === id) || (event.type === 'Cancelled' && event.data.reason === reason),
    follows: ['Cancelled'],
    replyMatches: ({ command, value, events }) => value.batch.id === command.id && value.cancelled.join() === tasksIn(events, 'Cancelled').join(),
    mayAppendNothing: ({ command, state }) => batchOf(state(), command.id)?.cancelledAt !== undefined,
  },
  RemoveSchedule: { records: (event, { name }) => event.type === 'ScheduleRemoved' && event.data.name === name },
  Pause: { records: (event) => event.type === 'QueuePaused', mayAppendNothing: ({ state }) => headOf(state()).paused !== null },
  Resume: { records: (event) => event.type === 'QueueResumed', mayAppendNothing: ({ state }) => headOf(state()).paused === null },
  DeleteQueue: { records: (event) => event.type === 'QueueDeleted', mayAppendNothing: ({ state }) => headOf(state()).deleted !== null },
  Tick: {
    records: ({ type }) => ticks.includes(type),
    follows: ticks,
    mayAppendNothing: ({ state }) => (nextDue(state()) ?? Number.POSITIVE_INFINITY) > headOf(state()).at,
  },
}
