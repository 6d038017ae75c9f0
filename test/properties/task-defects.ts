/** Defects of a task's life: duplicates, dead letters, retention, schedules, chains, amendments. */
import { decide, listTasks, type QueueEvent, timeOf } from '@daybook/core'
import { asked, deciding, type Defect, folding, unchanged } from './defect.js'
import { daybook, type System } from './world.js'

export const taskDefects: ReadonlyArray<Defect> = [
  {
    breaks: 'INV-27',
    by: 'a run without its task',
    system: deciding((events, _, command) => (command.type === 'Tick' ? events.filter(({ type }) => type !== 'TaskEnqueued') : events)),
  },
  {
    breaks: 'INV-27',
    by: 'a run that is left out, and the next one is not',
    system: deciding((events) => events.filter((event, i) => event.type !== 'ScheduleSkipped' && !(event.type === 'TaskEnqueued' && events[i - 1]?.type === 'ScheduleSkipped'))),
  },
  {
    breaks: 'INV-27',
    by: 'a run that does not wait for the one before',
    system: folding((event) => (event.type === 'ScheduleHeld' ? { ...event, type: 'ScheduleSkipped', data: { ...event.data, why: 'overlap' } } : event)),
  },
  {
    breaks: 'INV-27',
    by: 'a run that happens, and is due again',
    system: folding((event) => (event.type === 'ScheduleRan' ? undefined : event)),
  },
  {
    breaks: 'INV-29',
    by: 'a completion that forgets the last thing it found',
    system: asked(
      (command) => (command.type === 'Complete' && command.found !== undefined ? { ...command, found: { ...command.found, discoveries: command.found.discoveries.slice(1) } } : command),
      unchanged,
    ),
  },
  {
    breaks: 'INV-29',
    by: 'a chain whose rounds are not counted',
    system: folding((event) => (event.type === 'ValidationFailed' ? undefined : event)),
  },
  {
    breaks: 'INV-29',
    by: 'an approval that enqueues nothing',
    system: deciding((events, _, command) => (command.type === 'Approve' ? events.slice(0, 1) : events)),
  },
  {
    breaks: 'INV-8',
    by: 'a bulk cancel that leaves those that depend on what it cancels',
    system: deciding((events, _, command) =>
      command.type === 'CancelAll' ? events.filter((event) => event.type !== 'Cancelled' || event.data.reason === command.reason) : events,
    ),
  },
  {
    breaks: 'INV-8',
    by: 'a bulk cancel that knows no bound',
    system: asked((command) => (command.type === 'CancelAll' ? { ...command, max: 1_000 } : command), unchanged),
  },
  {
    breaks: 'INV-7',
    by: 'a callback that is forgotten when it has come',
    system: folding((event) => (event.type === 'CallbackReceived' ? { ...event, type: 'ParkTimedOut', data: { ...event.data, onTimeout: 'requeue', signature: '' } } : event)),
  },
  {
    breaks: 'INV-7',
    by: 'a key that is not looked up',
    system: asked(
      (command) =>
        command.type === 'Enqueue'
          ? { ...command, tasks: command.tasks.map((task, i) => ({ ...task, idempotencyKey: `${task.idempotencyKey}-${i}-${unique++}` })) }
          : command,
      (events, command) =>
        events.map((event) => {
          if (event.type !== 'TaskEnqueued' || command.type !== 'Enqueue') return event
          const { idempotencyKey } = command.tasks.find((task) => task.id === event.data.task) ?? { idempotencyKey: '' }
          return { ...event, data: { ...event.data, idempotencyKey } }
        }),
    ),
  },
  {
    breaks: 'INV-7',
    by: 'a task that has its key without its tenant, though tenants are isolated',
    system: deciding((events) =>
      events.map((event) => (event.type === 'TaskEnqueued' ? { ...event, data: { ...event.data, idempotencyKey: event.data.idempotencyKey.replace(/^(acme|zen):/, '') } } : event)),
    ),
  },
  {
    breaks: 'INV-7',
    by: 'an ordering key that tenants share, though they are isolated',
    system: deciding((events) =>
      events.map((event) => {
        const { orderingKey } = event.type === 'TaskEnqueued' ? event.data : {}
        return event.type !== 'TaskEnqueued' || orderingKey === undefined ? event : { ...event, data: { ...event.data, orderingKey: orderingKey.replace(/^(acme|zen):/, '') } }
      }),
    ),
  },
  {
    breaks: 'INV-7',
    by: 'an id of its own that is swallowed for its content',
    system: asked(
      (command) => (command.type === 'Enqueue' ? { ...command, tasks: command.tasks.map(({ isContentKey: _, ...task }) => task) } : command),
      unchanged,
    ),
  },
  {
    breaks: 'INV-7',
    by: 'a task that is not asked what makes it a duplicate',
    system: asked(
      (command) => (command.type === 'Enqueue' ? { ...command, tasks: command.tasks.map(({ deduplicate: _, ...task }) => task) } : command),
      unchanged,
    ),
  },
  {
    breaks: 'INV-7',
    by: 'a cancelled task that keeps its key',
    system: folding((event) => (event.type === 'Cancelled' ? undefined : event)),
  },
  {
    breaks: 'INV-8',
    by: 'a cancel without its cascade',
    system: deciding((events, _, command) => (command.type === 'Cancel' ? events.slice(0, 1) : events)),
  },
  {
    breaks: 'INV-8',
    by: 'a cascade one level deep',
    system: deciding((events, _, command) =>
      command.type === 'Cancel'
        ? events.filter((event, i) => i === 0 || (event.type === 'Cancelled' && event.data.reason === `Parent ${command.task} cancelled`))
        : events,
    ),
  },
  { breaks: 'INV-9', by: 'a task that the fold loses', system: folding((event) => (isEnqueued(event, 3) ? undefined : event)) },
  {
    breaks: 'INV-14',
    by: 'a clock taken at its word',
    system: deciding((events, _, __, { at }) => events.map((event) => ({ ...event, at }))),
  },
  { breaks: 'INV-7', by: 'a duplicate of what is known no longer', system: judgedAtTheLastEvent() },
  { breaks: 'INV-32', by: 'a redrive at twice its rate', system: deciding((events) => events.map((event) => (event.type === 'RedriveAdvanced' ? { ...event, data: { ...event.data, nextAt: event.at + Math.ceil((event.data.nextAt - event.at) / 2) } } : event))) },
  { breaks: 'INV-32', by: 'a redrive that takes later dead letters, too', system: folding((event) => (event.type === 'DeadLettered' ? { ...event, at: 0 } : event)) },
  { breaks: 'INV-32', by: 'a redrive that takes other types, too', system: folding((event) => (event.type === 'RedriveStarted' ? { ...event, data: { ...event.data, filter: {} } } : event)) },
  { breaks: 'INV-32', by: 'a snooze that ends with the next tick', system: deciding((events, state, command, { at }) => {
    if (command.type !== 'Tick') return events
    const [early] = listTasks(state, { snoozed: true, statuses: ['dead-letter'] }, 1_000).tasks.filter(({ id }) => !events.some((event) => 'task' in event.data && event.data.task === id))
    return early === undefined ? events : [...events, { type: 'Requeued', at: Math.max(at, timeOf(state)), data: { task: early.id, reviewer: 'rev', reason: 'looked at it' } }]
  }) },
  { breaks: 'INV-32', by: 'a snooze that does not end', system: deciding((events, _, command) => (command.type === 'Tick' ? events.filter(({ type }, i) => type !== 'Requeued' || events[i + 1]?.type === 'RedriveAdvanced') : events)) },
  { breaks: 'INV-32', by: 'a snooze that is not kept', system: folding((event) => (event.type === 'Snoozed' ? { ...event, data: { ...event.data, until: event.data.until + 60_000 } } : event)) },
  { breaks: 'INV-31', by: 'a heartbeat that extends a lease without end', system: deciding((events) => events.map((event) => (event.type === 'LeaseExtended' ? { ...event, data: { ...event.data, expiresAt: event.data.expiresAt + 500_000 } } : event))) },
  { breaks: 'INV-30', by: 'an amendment that does not tell the former priority', system: deciding((events) => events.map((event) => {
    if (event.type !== 'TaskAmended') return event
    const { formerPriority: _, ...data } = event.data
    return { ...event, data }
  })) },
  { breaks: 'INV-30', by: 'an amendment that says what it wants again', system: asked((command) => command, (events, command) => (command.type === 'AmendTask' && events.length === 0 ? [{ type: 'TaskAmended', at: 0, data: { task: command.task, reason: command.reason } }] : events)) },
  { breaks: 'INV-30', by: 'a new payload that is not found', system: folding((event) => {
    if (event.type !== 'TaskAmended') return event
    const { formerContentRevision: _, ...data } = event.data
    return { ...event, data }
  }) },
  { breaks: 'INV-25', by: 'a retention that is over only when another event comes', system: judgedAtTheLastEvent() },
]

const isEnqueued = (event: QueueEvent, number: number): boolean => event.type === 'TaskEnqueued' && event.data.number === number

let unique = 0

/** Decides as of the time of the last event, but records the present time. */
function judgedAtTheLastEvent(): () => System {
  return () => ({
    ...daybook,
    decide: (command, envelope) => (state) => {
      if (command.type !== 'Enqueue') return decide(command, envelope)(state)
      const decision = decide(command, { ...envelope, at: timeOf(state) })(state)
      const at = Math.max(envelope.at, timeOf(state))
      return decision._tag === 'Left' ? decision : { _tag: 'Right', right: decision.right.map((event) => ({ ...event, at })) }
    },
  })
}
