/** Answers about the queue as a whole, its agents and breakers, and about the server. */
import { PriorityName, Settings, Status } from '@daybook/core'
import * as t from 'io-ts'
import { Time } from '../../iso-time.js'
import { Breaker, ids, keys, orNull, revision } from './parts.js'
import { TaskAnswer } from './tasks.js'

export const ReadModelsAnswer = t.intersection(
  [t.type({ revision: t.number, behind: t.number }), t.partial({ building: t.type({ projections: t.readonlyArray(t.string), done: t.number, of: t.number }) })],
  'ReadModels',
)
export const ReportAnswer = t.intersection(
  [
    t.type({
      report: t.string, queue: t.string, revision: t.number, from: t.string, to: t.string, zone: t.string,
      rows: t.readonlyArray(t.record(t.string, t.union([t.string, t.number, t.null]))),
    }),
    t.partial({ behind: t.number, bucket: t.string, by: t.string, relativeError: t.number }),
  ],
  'Report',
)

export const BreakersAnswer = t.type({ breakers: t.record(t.string, Breaker) }, 'Breakers')
export const BreakerAnswer = t.type({ type: t.string, breaker: Breaker }, 'One breaker')
const Agent = t.intersection(
  [
    t.type({ agentId: t.string, status: keys(['idle', 'working']), tasks: ids, leases: t.readonlyArray(t.type({ task: t.string, expiresAt: Time })) }),
    t.partial({ types: ids, phases: ids, skills: ids, tenant: t.string, maxTasks: t.number, /** Only of a registered agent. */ lastSeenAt: Time, registeredUntil: Time, /** Only after a rate limit. */ sleepsUntil: Time }),
  ],
  'Agent',
)

export const AgentsAnswer = t.type({ agents: t.readonlyArray(Agent) }, 'Agents')
export const RegisteredAnswer = t.type({ agentId: t.string, registeredUntil: Time }, 'Registered agent')
export const TerminatedAnswer = t.type(
  {
    agentId: t.string,
    terminated: t.literal(true),
    reassignedTasks: ids,
    /** The same tasks with their new status. */
    tasks: t.readonlyArray(t.type({ id: t.string, number: t.number, status: Status }, 'Task taken back')),
  },
  'Terminated agent',
)

export const SettingsAnswer = Settings
export const PausedAnswer = t.type({ paused: orNull(t.string) }, 'Paused')
const counts = t.record(t.string, t.number)
const depth = {
  total: t.number,
  byStatus: t.record(Status, t.number),
  byPriority: t.record(PriorityName, t.number),
  byType: counts,
  byPhase: counts,
  byTenant: counts,
  oldestPendingAt: orNull(Time),
  oldestWaitSeconds: t.number,
}

export const DepthAnswer = t.type({ ...depth, ...revision }, 'Depth')
/** `at`: the moment of the answer, for which ages are computed. */
export const StateAnswer = t.type(
  {
    ...revision,
    at: Time,
    paused: orNull(t.string),
    counts: t.type(depth, 'Counts'),
    breakers: t.record(t.string, Breaker),
    breakersTotal: t.number,
    agents: t.readonlyArray(Agent),
    agentsTotal: t.number,
    tasks: t.readonlyArray(TaskAnswer),
    nextCursor: orNull(t.string),
  },
  'State',
)

export const QueueAnswer = t.type(
  { name: t.string, ...revision, /** The reason given for the pause. */ paused: orNull(t.string), total: t.number, byStatus: t.record(Status, t.number) },
  'Queue',
)
const Refused = t.readonlyArray(t.type({ queue: t.string, reason: t.string }))
/** `refused` is absent when empty. */
export const QueuesAnswer = t.intersection([t.type({ queues: t.readonlyArray(QueueAnswer) }), t.partial({ refused: Refused })], 'Queues')
export const QueueDeletedAnswer = t.type({ name: t.string, deleted: t.literal(true), ...revision }, 'Deleted queue')
export const HealthAnswer = t.type({ status: t.literal('ok') }, 'Alive')
/** The optional lists are absent when empty. The queues and parts in them do not stop the server from accepting commands for other queues. */
export const ReadyAnswer = t.intersection(
  [
    t.type({ status: t.literal('ready'), queues: t.number }),
    t.partial({
      refused: Refused,
      readOnly: t.readonlyArray(t.type({ queue: t.string, reason: t.string })),
      /** Queues whose time is ahead of this server's clock by more than a second. */
      ahead: t.readonlyArray(t.type({ queue: t.string, seconds: t.number })),
      degraded: t.readonlyArray(t.intersection([t.type({ part: t.string, reason: t.string, since: Time }), t.partial({ queue: t.string })])),
    }),
  ],
  'Ready',
)
