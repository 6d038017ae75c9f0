/** The reply to a command, made from its events and the state after them. It is sent when the events are durable. */
import type { Command, CommandOf, CommandType, Findings, PreparedTask } from '../model/commands.js'
import type { EventOf, QueueEvent } from '../model/events.js'
import { type BatchView, viewOfBatch, viewOfEnd } from './batch-view.js'
import { isolated } from '../model/isolation.js'
import { timeOf } from './query.js'
import { QueueState } from '../fold/queue-state.js'
import { KnownTasks } from '../state/retention.js'
import type { Schedule } from '../state/schedules.js'
import { type ScheduleView, viewOfSchedule } from './schedule-view.js'
import { type LimitView, limitView } from '../limits/view.js'
import type { Settings } from '../model/settings.js'
import { contentRevisionOf, type Parking, type Redrive, type TaskRecord } from '../records/records.js'
import type { Tables } from '../state/tables.js'
import { shownStatus } from '../state/capacity.js'
import { attemptOf } from '../model/attempts.js'
import { type Status, statuses } from '../model/task.js'
import { shownFields, type ShownFields, shownInExtras, shownInGroup } from '../model/task-fields.js'
import { type AmendedField, changedBy } from '../decide/amend.js'
import { cancellableOf } from '../decide/cancel.js'
import { recordOf } from '../decide/lookup.js'
import { ownerOf } from '../decide/park.js'
import { spawnId } from '../decide/spawn.js'
import { cursorAt, tasksMatching } from '../search/matching-tasks.js'

export interface Enqueued {
  readonly id: string
  readonly number: number
  readonly status: Status
  readonly duplicate: boolean
  /** Only of a duplicate: what it has in common with the task named here. */
  readonly duplicateBy?: 'id' | 'key' | 'content'
  /** Only of a duplicate of a finished task: until when that task blocks duplicates, in milliseconds since 1970. */
  readonly until?: number
}

/** The fields of a claimed task that cannot change. They are read from its record, at these places. */
const recordFields = { task: 'id', number: 'number', priority: 'priority', idempotencyKey: 'key', timeout: 'timeout', maxRetries: 'maxRetries', createdAt: 'enqueuedAt', dependencies: 'dependencies' } as const
type RecordFields = { readonly [K in keyof typeof recordFields]: TaskRecord[(typeof recordFields)[K]] } & { readonly type: string }
const places: ReadonlyArray<readonly [name: string, place: string]> = [
  ...Object.entries(recordFields),
  ['type', 'group.type'],
  ...shownInGroup.map((name) => [name, `group.${name}`] as const),
  ...shownInExtras.map((name) => [name, `extras.${name}`] as const),
]

/** The names of the members in the JSON of a claimed task, in its order. */
const jsonNames: ReadonlyArray<keyof ClaimedTask> = [
  'task', 'number', 'type', 'agent', 'token', 'expiresAt', 'leaseMs', 'waitedMs', 'priority', 'timeout', 'maxRetries', 'retries', 'attempts', 'createdAt',
  'attempt', 'attemptsMax', 'idempotencyKey', 'dependencies', ...shownFields,
  'contentRevision', 'checkpointRevision', 'content', 'checkpoint', 'callbackReceived', 'callback',
]

/** The other fields are copied at the claim. */
class Claimed {
  /** Earlier claims of the task that ended without success. */
  readonly attempts: number
  readonly retries: number
  /** Number of this attempt: 1, 2, 3 … */
  readonly attempt: number
  /** Number of the last attempt: its failure makes a dead letter. */
  readonly attemptsMax: number
  /** The revision of the event that holds the task's content. */
  readonly contentRevision: number
  /** The revision of the event with the last checkpoint of an earlier attempt. */
  readonly checkpointRevision: number | undefined
  /** The callback for which an earlier attempt parked the task, and the revision of the event with its payload. */
  readonly callbackReceived: Parking['callback']
  /** JSON text of `{payload?, description?, metadata?}`. The engine reads it from the log and fills it in. */
  content = ''
  /** JSON text of that checkpoint, filled in likewise. */
  checkpoint: string | undefined = undefined
  /** JSON text of the callback's `{payload?}`, filled in likewise. */
  callback: string | undefined = undefined
  /** How long the claim had waited when it was granted, in milliseconds. Set by the engine, which has a clock. */
  waitedMs = 0

  constructor(
    protected readonly record: TaskRecord,
    readonly agent: string,
    readonly token: number,
    readonly expiresAt: number,
    /** Length of the lease without a heartbeat, in milliseconds. */
    readonly leaseMs: number,
    maxAttempts: number,
  ) {
    this.attempts = record.attempts
    this.retries = record.retries
    const { attempt, attemptsMax } = attemptOf(record, maxAttempts)
    this.attempt = attempt
    this.attemptsMax = attemptsMax
    this.contentRevision = contentRevisionOf(record)
    this.checkpointRevision = record.extras.checkpointRevision
    this.callbackReceived = record.extras.parking?.callback
  }

  /** Leaves out the record, which refers to the whole queue. */
  toJSON(): Readonly<Record<string, unknown>> {
    return Object.fromEntries(jsonNames.map((name) => [name, (this as object as ClaimedTask)[name]]))
  }
}
for (const [name, place] of places) Object.defineProperty(Claimed.prototype, name, { get: new Function(`return this.record.${place}`) as () => unknown })
/** A task that was just claimed. */
export type ClaimedTask = Claimed & RecordFields & ShownFields
export const ClaimedTask = Claimed as new (...given: ConstructorParameters<typeof Claimed>) => ClaimedTask

export interface Replies {
  readonly Enqueue: ReadonlyArray<Enqueued>
  readonly Import: ReadonlyArray<Enqueued>
  readonly Claim: ReadonlyArray<ClaimedTask>
  readonly Heartbeat: { readonly token: number; readonly expiresAt: number }
  readonly Complete: {
    readonly status: Status
    /** Ids of the spawned tasks. Missing if nothing was found. */
    readonly spawned?: ReadonlyArray<string>
    /** Ids of the approvals that wait for a guardian because of this completion. */
    readonly approvals?: ReadonlyArray<string>
    /** Number of discoveries that led to nothing: not understood, of a kind without a rule, or too many. The result still has them. */
    readonly left?: number
  }
  readonly Fail: { readonly status: Status; readonly availableAt?: number }
  readonly Release: { readonly status: Status }
  readonly Park: { readonly status: Status }
  /** `status`: the one that the first callback with this key gave the task. */
  readonly Callback: { readonly task: string; readonly status: Status }
  readonly Cancel: { readonly cancelled: ReadonlyArray<string> }
  readonly CancelAll: {
    readonly cancelled: ReadonlyArray<string>
    /** The cursor of the next command; `undefined` if no more tasks match. */
    readonly next: string | undefined
  }
  readonly Retry: { readonly retried: ReadonlyArray<string> }
  readonly Discard: { readonly discarded: ReadonlyArray<string>; readonly cancelled: ReadonlyArray<string> }
  /** Ids of the tasks that were enqueued, or of the dead letter that was sent back. */
  readonly Approve: { readonly spawned: ReadonlyArray<string>; readonly retried: ReadonlyArray<string> }
  readonly Refuse: null
  readonly Snooze: { readonly snoozed: ReadonlyArray<string> }
  readonly Escalate: { readonly escalated: ReadonlyArray<string> }
  readonly Redrive: Redrive
  readonly StopRedrive: Redrive
  readonly OpenBreaker: null
  readonly CloseBreaker: null
  /** The fields whose values have changed. Empty if all had the wanted values already. */
  readonly AmendTask: { readonly id: string; readonly status: Status; readonly changed: ReadonlyArray<AmendedField> }
  readonly Bump: { readonly status: Status }
  readonly Erase: { readonly id: string }
  readonly Restart: { readonly id: string; readonly number: number; readonly restartOf: string; readonly status: Status }
  /** When the registration ends, unless the agent is heard of again. */
  readonly RegisterAgent: { readonly agent: string; readonly endsAt: number }
  /** The tasks that the agent held, with their new statuses. */
  readonly TerminateAgent: {
    readonly tasks: ReadonlyArray<{ readonly id: string; readonly number: number; readonly status: Status }>
    /** Number of leases that the agent still holds, if one append could not end them all. */
    readonly remaining: number
  }
  readonly Configure: Settings
  readonly CreateSchedule: ScheduleView
  readonly ChangeSchedule: ScheduleView
  readonly RemoveSchedule: null
  /** With what became of each of its tasks. */
  readonly CreateBatch: { readonly batch: BatchView; readonly results: ReadonlyArray<Enqueued> }
  readonly CloseBatch: BatchView
  readonly CancelBatch: { readonly batch: BatchView; readonly cancelled: ReadonlyArray<string> }
  readonly SetLimit: LimitView
  readonly RemoveLimit: null
  readonly Pause: null
  readonly Resume: null
  readonly DeleteQueue: null
  readonly Tick: null
}

/** The reply to a command. `state`: after the events. `at`: the time of the decision. */
export const replyTo = <C extends Command>(
  command: C,
  events: ReadonlyArray<QueueEvent>,
  state: QueueState,
  at = timeOf(state),
): Replies[C['type']] =>
  // Each branch below returns the reply of its own type; TypeScript does not narrow the index by the switch.
  reply(command, events, QueueState.tablesOf(state), at) as Replies[C['type']]

/** The most frequent replies, made once. */
const inStatus = Object.fromEntries(statuses.map((status) => [status, Object.freeze({ status })])) as Readonly<
  Record<Status, { readonly status: Status }>
>

const reply = (command: Command, events: ReadonlyArray<QueueEvent>, tables: Tables, at: number): Replies[CommandType] => {
  switch (command.type) {
    case 'Enqueue':
    case 'Import':
      return enqueued(command, events, tables, at)
    case 'Claim':
      return (events as ReadonlyArray<EventOf<'Claimed'>>).map((event) => claimed(event, tables))
    case 'Heartbeat': {
      const event = events[0] as EventOf<'LeaseExtended'>
      return { token: event.data.token, expiresAt: event.data.expiresAt }
    }
    case 'Complete':
      if (command.found !== undefined) return completed(command, command.found, events, tables)
      // A lookup would make the record of a finished task.
      return events[0]?.type === 'Completed' ? inStatus.completed : inStatus[statusOf(tables, command.task)]
    case 'Release':
    case 'Park':
      return inStatus[statusOf(tables, command.task)]
    case 'Fail': {
      const task = recordOf(tables, command.task)
      return task?.status === 'scheduled'
        ? { status: 'scheduled', availableAt: task.delayedUntil }
        : inStatus[statusOf(tables, command.task)]
    }
    case 'Callback':
      return { task: ownerOf(tables, command.callbackKey, at)?.id ?? '', status: 'pending' }
    case 'Cancel':
      return { cancelled: tasksOf(events, 'Cancelled') }
    case 'CancelAll':
      return { cancelled: tasksOf(events, 'Cancelled'), next: nextOf(command, tables) }
    case 'Snooze':
      return { snoozed: tasksOf(events, 'Snoozed') }
    case 'Escalate':
      return { escalated: tasksOf(events, 'Escalated') }
    case 'Redrive':
    case 'StopRedrive':
      // Both commands are refused, or leave a redrive.
      return tables.head.redrive as Redrive
    case 'Retry':
      return { retried: tasksOf(events, 'Requeued') }
    case 'Discard':
      return { discarded: tasksOf(events, 'Discarded'), cancelled: tasksOf(events, 'Cancelled') }
    case 'Restart': {
      const task = tables.byId.get(command.id)
      return { id: command.id, number: task?.number ?? 0, restartOf: task?.extras.restartOf ?? command.task, status: statusOf(tables, command.id) }
    }
    case 'AmendTask':
      return { id: recordOf(tables, command.task)?.id ?? command.task, status: statusOf(tables, command.task), changed: changedBy(events[0] as EventOf<'TaskAmended'> | undefined) }
    case 'Erase':
      return { id: (events[0] as EventOf<'TaskErased'>).data.task }
    case 'Bump':
      return inStatus[statusOf(tables, command.task)]
    case 'RegisterAgent':
      return { agent: command.agent, endsAt: tables.agents.byName.get(command.agent)?.endsAt ?? at }
    case 'TerminateAgent':
      return {
        tasks: tasksOf(events, 'ClaimRevoked').flatMap((id) => {
          const task = tables.byId.get(id)
          return task === undefined ? [] : [{ id, number: task.number, status: shownStatus(tables, task.status) }]
        }),
        remaining: tables.leases.get(command.agent)?.size ?? 0,
      }
    case 'CreateBatch':
      return { batch: batchIn(tables, command.id, events), results: enqueued(command, events.filter(isTaskOfBatch), tables, at) }
    case 'CloseBatch':
      return batchIn(tables, command.id, events)
    case 'CancelBatch':
      return { batch: batchIn(tables, command.id, events), cancelled: tasksOf(events, 'Cancelled') }
    case 'SetLimit':
      return limitView(tables, command.key, tables.limits.set.get(command.key) ?? {})
    case 'Configure':
      return tables.head.settings
    case 'CreateSchedule':
    case 'ChangeSchedule':
      return viewOfSchedule(tables.schedules.get(command.name) as Schedule)
    case 'Approve':
      return { spawned: tasksOf(events, 'TaskEnqueued'), retried: tasksOf(events, 'Requeued') }
    case 'RemoveSchedule':
    case 'Refuse':
    case 'RemoveLimit':
    case 'OpenBreaker':
    case 'CloseBreaker':
    case 'Pause':
    case 'Resume':
    case 'DeleteQueue':
    case 'Tick':
      return null
  }
}

/** The batch after the command. If the command finished it, and its retention was over within the command, only the event is left. */
const batchIn = (tables: Tables, id: string, events: ReadonlyArray<QueueEvent>): BatchView => {
  const batch = tables.batches.get(id)
  return batch === undefined ? viewOfEnd(events.find((event) => event.type === 'BatchFinished' && event.data.batch === id) as EventOf<'BatchFinished'>, tables) : viewOfBatch(tables, batch)
}
const isTaskOfBatch = ({ type, data }: QueueEvent): boolean => type === 'TaskEnqueued' && !('callbackOf' in data)

/** The cursor of the first matching task that is left. The next command begins there and does not scan earlier tasks again. */
const nextOf = ({ filter, after }: CommandOf<'CancelAll'>, tables: Tables): string | undefined => {
  // Unfinished tasks are never forgotten, so any time will do.
  const [left] = tasksMatching(tables, cancellableOf(filter), after, tables.head.at)
  return left === undefined ? undefined : cursorAt(left)
}

const enqueued = (
  command: Pick<CommandOf<'Enqueue'> | CommandOf<'Import'>, 'tasks'>,
  all: ReadonlyArray<QueueEvent>,
  tables: Tables,
  at: number,
): ReadonlyArray<Enqueued> => {
  // The limits that the tasks set are the last events.
  const events = all[all.length - 1]?.type === 'LimitSet' ? all.filter(({ type }) => type !== 'LimitSet') : all
  // Without duplicates there is an event for each task. Otherwise, of the tasks with an event's id, the first is the new one.
  const fresh = events.length === command.tasks.length ? undefined : new Set(events.map((event) => (event as EventOf<'TaskEnqueued'>).data.task))
  const known = new KnownTasks(tables, at)
  return command.tasks.map((given, index): Enqueued => {
    const task = isolated(given, tables)
    // Events are mostly in the order of the tasks, and a lookup by number is the fastest.
    const data = (events[index] as EventOf<'TaskEnqueued'> | undefined)?.data
    const own = data !== undefined && data.task === task.id ? tables.byNumber.get(data.number) : undefined
    const found = own ?? known.byId(task.id) ?? known.byKey(task.idempotencyKey)
    const duplicate = fresh !== undefined && !fresh.delete(task.id)
    if (found !== undefined) {
      const told = { id: found.id, number: found.number, status: shownStatus(tables, found.status), duplicate }
      return duplicate ? { ...told, ...inTheWay(task, found, tables) } : told
    }
    // The task was imported as finished, and its retention was over within this command.
    const event = events.find((each) => (each as EventOf<'TaskImported'>).data.task === task.id) as EventOf<'TaskImported'> | undefined
    return { id: task.id, number: event?.data.number ?? 0, status: event?.data.status ?? 'completed', duplicate }
  })
}

const inTheWay = (task: PreparedTask, known: TaskRecord, { head }: Tables): Pick<Enqueued, 'duplicateBy' | 'until'> => ({
  duplicateBy: known.id === task.id ? 'id' : task.isContentKey === true ? 'content' : 'key',
  ...(known.finishedAt === 0 ? {} : { until: known.finishedAt + head.settings.retentionSeconds * 1_000 }),
})

/** Looks up by ids. So a repeated report gets the same answer as the first one for as long as the spawned tasks are known. */
const completed = ({ task: id, token }: CommandOf<'Complete'>, found: Findings, events: ReadonlyArray<QueueEvent>, tables: Tables): Replies['Complete'] => {
  const status = statusOf(tables, id)
  const task = recordOf(tables, id)
  if (status !== 'completed') return inStatus[status]
  // The retention of the task was over within this command.
  if (task === undefined) return { status, spawned: tasksOf(events, 'TaskEnqueued') }
  const discoveries = found.discoveries.map((_, index) => `discovery ${index}`)
  const isThere = (part: string): boolean => tables.byId.get(spawnId(task, token, part)) !== undefined
  const spawned = [...(found.validation === undefined ? [] : ['fix', 'check']), ...discoveries].filter(isThere)
  const waiting = ['approval', ...discoveries.map((part) => `approval of ${part}`)].filter((part) => tables.approvals.has(spawnId(task, token, part)))
  const became = [...spawned, ...waiting].filter((part) => part.includes('discovery')).length
  return {
    status,
    spawned: spawned.map((part) => spawnId(task, token, part)),
    approvals: waiting.map((part) => spawnId(task, token, part)),
    left: found.left + discoveries.length - became,
  }
}

const claimed = ({ at, data }: EventOf<'Claimed'>, tables: Tables): ClaimedTask =>
  // The event was just folded, so the task is there.
  new ClaimedTask(tables.held(data) as TaskRecord, data.agent, data.token, data.expiresAt, data.expiresAt - at, tables.head.settings.maxAttempts)

const statusOf = (tables: Tables, id: string): Status => shownStatus(tables, recordOf(tables, id)?.status ?? 'completed')

const tasksOf = (events: ReadonlyArray<QueueEvent>, type: 'TaskEnqueued' | 'Cancelled' | 'Requeued' | 'Discarded' | 'Snoozed' | 'Escalated' | 'ClaimRevoked'): ReadonlyArray<string> =>
  // A batch that was finished by the way enqueues its callback.
  events.flatMap((event) => (event.type === type && !('callbackOf' in event.data) ? [event.data.task] : []))
