/** Defects of what is recorded and what follows from it: the fold, rollbacks, snapshots, lists. */
import { decide, evolve, mark, rollback, snapshotPages, snapshotReader, taskOf } from '@daybook/core'
import { asked, deciding, type Defect, folding } from './defect.js'
import { daybook } from './world.js'

export const logDefects: ReadonlyArray<Defect> = [
  {
    breaks: 'INV-20',
    by: 'a deleted queue that keeps what it knew',
    system: folding((event) => (event.type === 'QueueDeleted' ? { type: 'QueueResumed', at: event.at, data: event.data } : event)),
  },
  {
    breaks: 'INV-20',
    by: 'a stop that bars the agent',
    system: folding((event) => (event.type === 'ClaimReturned' ? { ...event, type: 'Released' } : event)),
  },
  {
    breaks: 'INV-21',
    by: 'a rate limit that counts as a failure',
    system: folding((event) =>
      event.type === 'RateLimited' ? { type: 'Failed', at: event.at, data: { task: event.data.task, agent: event.data.agent, token: event.data.token, error: event.data.error, retryable: true, signature: '' } } : event,
    ),
  },
  {
    breaks: 'INV-21',
    by: 'a slow-down that slows nobody',
    system: folding((event) => (event.type === 'SlowdownSignalled' ? { ...event, data: { ...event.data, taskType: 'nothing' } } : event)),
  },
  {
    breaks: 'INV-21',
    by: 'an agent that does not sleep',
    system: folding((event) => (event.type === 'RateLimited' ? { ...event, data: { ...event.data, availableAt: 0 } } : event)),
  },
  {
    breaks: 'INV-20',
    by: 'a snooze that knows no end',
    system: folding((event) => (event.type === 'Snoozed' ? { ...event, type: 'Escalated' } : event)),
  },
  {
    breaks: 'INV-20',
    by: 'a wait that knows no end',
    system: folding((event) => (event.type === 'TaskParked' ? { ...event, data: { ...event.data, until: event.data.until + 1_000 } } : event)),
  },
  { breaks: 'INV-15', by: 'a rollback that is none', system: () => ({ ...daybook, rollback: (state) => state }) },
  {
    breaks: 'INV-15',
    by: 'a rollback that loses an event',
    system: () => ({
      ...daybook,
      rollback: (state, point) => evolve(rollback(state, point), { type: 'AgentTerminated', at: 0, data: { agent: 'x', reason: '' } }),
    }),
  },
  {
    breaks: 'INV-15',
    by: 'a snapshot that loses its tasks and says that there were none',
    system: () => ({
      ...daybook,
      fork: (state) => {
        const reader = snapshotReader()
        for (const page of snapshotPages(state).slice(0, 1)) reader.page({ ...page, text: page.text.replace(/"(finished|unfinished)":\d+/g, '"$1":0') })
        return reader.finish()
      },
    }),
  },
  {
    breaks: 'INV-15',
    by: 'a decider that draws its own lots',
    system: () => {
      let calls = 0
      return { ...daybook, decide: (command, envelope) => decide(command, { ...envelope, random: (++calls * 0.37) % 1 }) }
    },
  },
  {
    breaks: 'INV-15',
    by: 'a decider that leaves a trace',
    system: () => ({
      ...daybook,
      decide: (command, envelope) => (state) => {
        const decision = decide(command, envelope)(state)
        if (command.type === 'Claim') rollback(state, mark(state))
        return decision
      },
    }),
  },
  {
    breaks: 'INV-16',
    by: 'taking in what can be taken in',
    system: () => ({
      ...daybook,
      decide: (command, envelope) => (state) => {
        const decision = decide(command, envelope)(state)
        if (decision._tag === 'Right' || command.type !== 'Enqueue') return decision
        const first = command.tasks.map((task) => decide({ ...command, tasks: [task] }, envelope)(state)).find((each) => each._tag === 'Right')
        return first ?? decision
      },
    }),
  },
  {
    breaks: 'INV-16',
    by: 'the first half of a request',
    system: deciding((events, _, command) => (command.type === 'Enqueue' ? events.slice(0, Math.ceil(events.length / 2)) : events)),
  },
  {
    breaks: 'INV-17',
    by: 'erasing what is not finished',
    system: () => ({
      ...daybook,
      decide: (command, envelope) => (state) => {
        const isLive = command.type === 'Erase' && taskOf(state, command.task)?.status === 'pending'
        if (!isLive) return decide(command, envelope)(state)
        const { task, reason } = command
        return { _tag: 'Right', right: [{ type: 'TaskErased', at: envelope.at, data: { task, reason } }] }
      },
    }),
  },
  {
    breaks: 'INV-17',
    by: 'cancelling what is completed',
    system: () => ({
      ...daybook,
      decide: (command, envelope) => (state) => {
        const isDone = command.type === 'Cancel' && taskOf(state, command.task)?.status === 'completed'
        if (!isDone) return decide(command, envelope)(state)
        const { task, reason } = command
        return { _tag: 'Right', right: [{ type: 'Cancelled', at: envelope.at, data: { task, reason } }] }
      },
    }),
  },
  {
    breaks: 'INV-18',
    by: 'forgetting who gave a task back',
    system: asked(
      (command) => (command.type === 'Claim' ? { ...command, agent: `${command.agent}-again` } : command),
      (events, command) =>
        events.map((event) => (event.type === 'Claimed' && command.type === 'Claim' ? { ...event, data: { ...event.data, agent: command.agent } } : event)),
    ),
  },
  {
    breaks: 'INV-20',
    by: 'a heartbeat that is not shown',
    system: folding((event) => (event.type === 'LeaseExtended' ? undefined : event)),
  },
  {
    breaks: 'INV-20',
    by: 'a signature that is not kept',
    system: folding((event) => (event.type === 'Failed' ? { ...event, data: { ...event.data, signature: '' } } : event)),
  },
  {
    breaks: 'INV-22',
    by: 'a retention without end',
    system: folding((event) =>
      event.type === 'QueueConfigured' ? { ...event, data: { patch: (({ retentionSeconds: _, ...patch }) => patch)(event.data.patch) } } : event,
    ),
  },
]
