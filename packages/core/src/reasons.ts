/**
 * Why an unfinished task is not being worked on: all reasons, not only the first. A task that can be claimed
 * has the reason `ready`.
 */
import { findTask } from './decide/lookup.js'
import { QueueState } from './queue-state.js'
import { isShut, type TaskRecord } from './state.js'
import type { Tables } from './tables.js'
import type { Status } from './task.js'

export type ReasonCode =
  /** It can be claimed. */
  | 'ready'
  /** It is scheduled for later. */
  | 'scheduled'
  /** Other tasks must be completed first. */
  | 'blocked'
  | 'queue-paused'
  | 'breaker-open'
  /** One task of this type is the probe, and the others wait for its outcome. */
  | 'breaker-half-open'
  /** Only agents with certain skills may take it. */
  | 'skills-required'
  /** These agents released it and will not get it again. */
  | 'agents-barred'
  /** It was given up and waits for a reviewer. */
  | 'dead-letter'

export interface Reason {
  readonly code: ReasonCode
  /** For people. */
  readonly message: string
  /** When the reason ends by itself, in milliseconds. */
  readonly until?: number
  /** The tasks on which it depends, with their statuses. */
  readonly blockedBy?: ReadonlyArray<{ readonly id: string; readonly status: Status }>
}

/** The reasons of a task at this time; empty if it is held or finished, `undefined` if it is unknown. By id, or by number as `#42`. */
export const reasonsOf = (state: QueueState, id: string, at: number): ReadonlyArray<Reason> | undefined => {
  const tables = QueueState.tablesOf(state)
  const task = findTask(tables, id, at)
  return task === undefined ? undefined : reasonsFor(tables, task, at)
}

const reasonsFor = (tables: Tables, task: TaskRecord, at: number): ReadonlyArray<Reason> => {
  switch (task.status) {
    case 'dead-letter':
      return [{ code: 'dead-letter', message: `it was given up (${task.extras.deadLetter?.reason ?? 'unknown why'}): a reviewer sends it back or discards it` }]
    case 'pending':
    case 'queued':
    case 'scheduled':
    case 'blocked': {
      const gates = [...waiting(tables, task, at), ...queueGates(tables, task)]
      const ready: Reason = { code: 'ready', message: `it waits for an agent that claims ${task.group.type} tasks` }
      return [...(gates.length === 0 ? [ready] : gates), ...whoMay(task)]
    }
    default:
      return []
  }
}

/** Dependencies and delays. */
const waiting = (tables: Tables, task: TaskRecord, at: number): ReadonlyArray<Reason> => {
  const blockedBy = task.dependencies.flatMap((id) => {
    const dependency = tables.byId.get(id)
    // A later task with the same id is another one: the dependency was completed and has left the state.
    return dependency === undefined || dependency.number > task.number || dependency.status === 'completed' ? [] : [{ id, status: dependency.status }]
  })
  const until = task.status === 'scheduled' ? task.delayedUntil : (task.extras.availableAt ?? 0)
  const isDelayed = task.status === 'scheduled' || (task.status === 'blocked' && until > at)
  return [
    ...(task.status === 'blocked'
      ? [{ code: 'blocked' as const, message: `it waits for ${blockedBy.map(({ id, status }) => `${id} (${status})`).join(', ')}`, blockedBy }]
      : []),
    ...(isDelayed ? [{ code: 'scheduled' as const, message: task.retries > 0 && task.status === 'scheduled' ? 'it is tried again later' : 'its time has not come', until }] : []),
  ]
}

/** Reasons that apply to all tasks of the queue or of the type. */
const queueGates = (tables: Tables, { group: { type } }: TaskRecord): ReadonlyArray<Reason> => {
  const { paused } = tables.head
  const breaker = tables.breakers.get(type)
  const gates: Array<Reason> = []
  if (paused !== null) gates.push({ code: 'queue-paused', message: `the queue is paused${paused === '' ? '' : `: ${paused}`}` })
  if (breaker?.state === 'open') {
    const message = `the breaker of ${type} is open (${breaker.reason})${breaker.halfOpenAt === 0 ? ', until it is closed by hand' : ''}`
    gates.push({ code: 'breaker-open', message, ...(breaker.halfOpenAt === 0 ? {} : { until: breaker.halfOpenAt }) })
  } else if (breaker?.state === 'half-open') {
    const test = isShut(breaker) ? `${breaker.probe?.id ?? ''} tests it now` : 'the next task that is claimed tests it'
    gates.push({ code: 'breaker-half-open', message: `the breaker of ${type} is half-open: ${test}` })
  }
  return gates
}

/** Restrictions on the agents that may claim it. */
const whoMay = ({ group: { skills }, extras: { claimants = [] } }: TaskRecord): ReadonlyArray<Reason> => [
  ...(skills.length === 0 ? [] : [{ code: 'skills-required' as const, message: `only an agent with these skills may take it: ${skills.join(', ')}` }]),
  ...(claimants.length === 0 ? [] : [{ code: 'agents-barred' as const, message: `gave it back, and will not get it again: ${[...new Set(claimants)].join(', ')}` }]),
]
