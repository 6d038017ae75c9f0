/** Past moments of a queue, and the differences between two moments. */
import type { Calls } from '../transport/calls.js'
import type { HttpRequest } from '../transport/transport.js'
import type { DaybookClient } from './daybook-client.js'
import type { AgentView, BreakerView, Depth } from './queue.js'
import type { EventFilter, TaskView, Time } from './tasks.js'

/** A moment: a revision (when this event was the last one), or a time. */
export type Moment = { readonly revision: number } | { readonly at: Time }

/** A whole queue at one moment. */
export interface QueueMoment {
  readonly revision: number
  /** The time for which ages are computed. */
  readonly at: string
  readonly paused: string | null
  readonly counts: Omit<Depth, 'revision'>
  /** At most 1,000, those that are not closed first. */
  readonly breakers: Readonly<Record<string, BreakerView>>
  /** How many there are. Missing in answers of older servers, which show all. */
  readonly breakersTotal?: number
  /** At most 1,000. */
  readonly agents: ReadonlyArray<AgentView>
  readonly agentsTotal?: number
  /** One page of the tasks that match the filter. */
  readonly tasks: ReadonlyArray<TaskView>
  readonly nextCursor: string | null
}

export interface EventReference {
  readonly revision: number
  readonly type: string
  readonly at: string
  readonly actor?: string
  readonly correlationId?: string
}

export interface DiffOptions {
  /** A revision or a time. Default: before the first event. */
  readonly from?: number | Time | undefined
  /** A revision or a time. Default: now. */
  readonly to?: number | Time | undefined
  readonly limit?: number | undefined
  /** `nextCursor` of the previous page. */
  readonly cursor?: string | undefined
}

export interface TaskDifference {
  readonly id: string
  readonly number: number
  readonly type: string
  /** The members that differ; `null` if the task did not exist. */
  readonly before: Readonly<Record<string, unknown>> | null
  readonly after: Readonly<Record<string, unknown>> | null
  readonly events: ReadonlyArray<EventReference>
}

export interface Difference {
  readonly from: { readonly revision: number; readonly at: string | null }
  readonly to: { readonly revision: number; readonly at: string | null }
  /** In the order of the first event about each task. */
  readonly tasks: ReadonlyArray<TaskDifference>
  readonly nextCursor: string | null
  /** At most 1,000. */
  readonly breakers: ReadonlyArray<{
    readonly type: string
    readonly before: BreakerView | null
    readonly after: BreakerView | null
    /** The last of its events, at most 100. */
    readonly events: ReadonlyArray<EventReference>
    /** How many there are. Missing in answers of older servers, which show all. */
    readonly eventsTotal?: number
  }>
  readonly breakersTotal?: number
  readonly revision: number
}

/** A queue at a past moment: the queries of a client, and none of its commands. */
export interface PastQueue
  extends Pick<DaybookClient, 'queue' | 'state' | 'tasks' | 'eachTask' | 'task' | 'explain' | 'history' | 'alerts' | 'depth' | 'summary' | 'events' | 'eachEvent' | 'eventLines'> {
  readonly deadLetters: Pick<DaybookClient['deadLetters'], 'list' | 'patterns' | 'redriveStatus'>
  readonly approvals: Pick<DaybookClient['approvals'], 'list' | 'get'>
  readonly breakers: Pick<DaybookClient['breakers'], 'list'>
  readonly agents: Pick<DaybookClient['agents'], 'list'>
  readonly settings: Pick<DaybookClient['settings'], 'get'>
  readonly limits: Pick<DaybookClient['limits'], 'list' | 'get'>
  readonly schedules: Pick<DaybookClient['schedules'], 'list' | 'get'>
  readonly batches: Pick<DaybookClient['batches'], 'list' | 'get'>
}

const textOf = (moment: number | Time): string => (moment instanceof Date ? moment.toISOString() : String(moment))

/** The span as parameters of the request. */
export const spanOf = ({ from, to, ...page }: DiffOptions & EventFilter): object => ({
  ...page,
  ...(from === undefined ? {} : { from: textOf(from) }),
  ...(to === undefined ? {} : { to: textOf(to) }),
})

/** Time-out of questions for which the server reads the log, in milliseconds. */
export const replayTimeoutMs = 3_600_000

/** Calls that name the moment in each request, and wait while the server replays the log up to there. */
export const callsAt = ({ json, text, once, stream }: Calls, moment: Moment): Calls => {
  const named = 'revision' in moment ? `revision=${moment.revision}` : `at=${encodeURIComponent(textOf(moment.at))}`
  const then = (request: HttpRequest): HttpRequest => ({ timeoutMs: replayTimeoutMs, ...request, path: `${request.path}${request.path.includes('?') ? '&' : '?'}${named}` })
  return {
    json: (request, policy, options) => json(then(request), policy, { timeoutMs: replayTimeoutMs, ...options }),
    text: (request, policy, options) => text(then(request), policy, { timeoutMs: replayTimeoutMs, ...options }),
    once: (request) => once(then(request)),
    stream: (request) => stream(then(request)),
  }
}

export const questionsOf = (client: DaybookClient): PastQueue => {
  const { queue, state, tasks, eachTask, task, explain, history, alerts, depth, summary, events, eachEvent, eventLines, deadLetters, approvals, breakers, agents, settings, limits, schedules, batches } = client
  return {
    ...{ queue, state, tasks, eachTask, task, explain, history, alerts, depth, summary, events, eachEvent, eventLines },
    deadLetters: { list: deadLetters.list, patterns: deadLetters.patterns, redriveStatus: deadLetters.redriveStatus },
    approvals: { list: approvals.list, get: approvals.get },
    breakers: { list: breakers.list },
    agents: { list: agents.list },
    settings: { get: settings.get },
    limits: { list: limits.list, get: limits.get },
    schedules: { list: schedules.list, get: schedules.get },
    batches: { list: batches.list, get: batches.get },
  }
}
