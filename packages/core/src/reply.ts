/** What the asker is told once a command's events are durable: read off the events and the state they led to. */
import type { Command, CommandOf, CommandType } from './commands.js'
import type { EventOf, QueueEvent } from './events.js'
import { QueueState } from './queue-state.js'
import type { Settings } from './settings.js'
import type { Tables } from './state.js'
import type { Phase, Status } from './task.js'
import { findTask } from './decide/lookup.js'

export interface Enqueued {
  readonly id: string
  readonly number: number
  readonly status: Status
  readonly duplicate: boolean
}

export interface Claimed {
  readonly task: string
  readonly number: number
  readonly type: string
  readonly token: number
  readonly expiresAt: number
  readonly priority: number
  readonly timeout: number
  readonly maxRetries: number
  readonly retries: number
  /** Claims before this one that ended without success. */
  readonly attempts: number
  readonly createdAt: number
  readonly dependencies: ReadonlyArray<string>
  readonly phase: Phase | undefined
  readonly tenant: string | undefined
  readonly ticketId: string | undefined
  readonly parentTaskId: string | undefined
  readonly deadlineAt: number | undefined
  /** Where the task's content is in the log, and its checkpoint if a former holder left one. */
  readonly enqueuedRevision: number
  readonly checkpointRevision: number | undefined
}

export interface Replies {
  readonly Enqueue: ReadonlyArray<Enqueued>
  readonly Import: ReadonlyArray<Enqueued>
  readonly Claim: ReadonlyArray<Claimed>
  readonly Heartbeat: { readonly token: number; readonly expiresAt: number }
  readonly Complete: { readonly status: Status }
  readonly Fail: { readonly status: Status; readonly availableAt?: number }
  readonly Release: { readonly status: Status }
  readonly Cancel: { readonly cancelled: ReadonlyArray<string> }
  readonly Retry: { readonly retried: ReadonlyArray<string> }
  readonly Discard: { readonly discarded: ReadonlyArray<string>; readonly cancelled: ReadonlyArray<string> }
  readonly OpenBreaker: null
  readonly CloseBreaker: null
  readonly TerminateAgent: { readonly reassigned: ReadonlyArray<string> }
  readonly Configure: Settings
  readonly Pause: null
  readonly Resume: null
  readonly Tick: null
}

/** `state` is the one that the events led to. */
export const replyTo = <C extends Command>(
  command: C,
  events: ReadonlyArray<QueueEvent>,
  state: QueueState,
): Replies[C['type']] =>
  // Each branch below returns the reply of its own type; TypeScript does not narrow the index by the switch.
  reply(command, events, QueueState.tablesOf(state)) as Replies[C['type']]

const reply = (command: Command, events: ReadonlyArray<QueueEvent>, tables: Tables): Replies[CommandType] => {
  switch (command.type) {
    case 'Enqueue':
    case 'Import':
      return enqueued(command, events, tables)
    case 'Claim':
      return events.flatMap((event) => (event.type === 'Claimed' ? [claimed(event, tables)] : []))
    case 'Heartbeat': {
      const event = events[0] as EventOf<'LeaseExtended'>
      return { token: event.data.token, expiresAt: event.data.expiresAt }
    }
    case 'Complete':
    case 'Release':
      return { status: statusOf(tables, command.task) }
    case 'Fail': {
      const task = findTask(tables, command.task)
      return task?.status === 'scheduled'
        ? { status: 'scheduled', availableAt: task.dueAt }
        : { status: statusOf(tables, command.task) }
    }
    case 'Cancel':
      return { cancelled: tasksOf(events, 'Cancelled') }
    case 'Retry':
      return { retried: tasksOf(events, 'Requeued') }
    case 'Discard':
      return { discarded: tasksOf(events, 'Discarded'), cancelled: tasksOf(events, 'Cancelled') }
    case 'TerminateAgent':
      return { reassigned: tasksOf(events, 'ClaimExpired') }
    case 'Configure':
      return tables.head.settings
    case 'OpenBreaker':
    case 'CloseBreaker':
    case 'Pause':
    case 'Resume':
    case 'Tick':
      return null
  }
}

const enqueued = (
  command: CommandOf<'Enqueue'> | CommandOf<'Import'>,
  events: ReadonlyArray<QueueEvent>,
  tables: Tables,
): ReadonlyArray<Enqueued> => {
  // Without duplicates there is an event for each; with some, those that have one are new.
  const fresh = events.length === command.tasks.length ? undefined : new Set(events.map((event) => (event as EventOf<'TaskEnqueued'>).data.task))
  const told = new Set<string>()
  return command.tasks.map((task): Enqueued => {
    const known = tables.byId.get(task.id) ?? tables.byKey.get(task.idempotencyKey)
    const duplicate = fresh !== undefined && (!fresh.has(task.id) || told.has(task.id))
    told.add(task.id)
    if (known !== undefined) return { id: known.id, number: known.number, status: known.status, duplicate }
    // Finished, and its retention was over within this very command.
    const event = events.find((each) => (each as EventOf<'TaskImported'>).data.task === task.id) as EventOf<'TaskImported'> | undefined
    return { id: task.id, number: event?.data.number ?? 0, status: event?.data.status ?? 'completed', duplicate }
  })
}

const claimed = (event: EventOf<'Claimed'>, tables: Tables): Claimed => {
  const { at } = event
  const { task: id, token, expiresAt } = event.data
  const task = tables.byId.get(id)
  return {
    task: id,
    number: task?.number ?? 0,
    type: task?.group.type ?? '',
    token,
    expiresAt,
    priority: task?.priority ?? 0,
    timeout: task?.timeout ?? 0,
    maxRetries: task?.maxRetries ?? 0,
    retries: task?.retries ?? 0,
    attempts: task?.attempts ?? 0,
    createdAt: task?.enqueuedAt ?? at,
    dependencies: task?.dependencies ?? [],
    phase: task?.group.phase,
    tenant: task?.group.tenant,
    ticketId: task?.rare.ticketId,
    parentTaskId: task?.rare.parentTaskId,
    deadlineAt: task?.rare.deadlineAt,
    enqueuedRevision: task?.enqueuedRevision ?? -1,
    checkpointRevision: task?.rare.checkpointRevision,
  }
}

const statusOf = (tables: Tables, id: string): Status => findTask(tables, id)?.status ?? 'completed'

const tasksOf = (events: ReadonlyArray<QueueEvent>, type: 'Cancelled' | 'Requeued' | 'Discarded' | 'ClaimExpired'): ReadonlyArray<string> =>
  events.flatMap((event) => (event.type === type ? [event.data.task] : []))
