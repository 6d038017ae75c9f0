/**
 * The gates between a task and an agent: everything that can keep a task from being claimed. Claims and {@link Reason}s use this one list. A claim
 * asks only whether gates are shut, and asks for each gate as seldom as possible: see {@link Scopes}.
 *
 * A new gate is one entry of {@link gates}, and mostly a code in `reason.ts`. It needs a new scope only if claims have to ask for it at another moment.
 */
import type { Group } from '../records/group.js'
import type { ShapeOf } from '../ready/claim-shape.js'
import type { ClaimQuestion, Question, Reason, ReasonCode, Words } from './reason.js'
import { isBarred, lastUntil, roomOf } from './assignment.js'
import { isCapacityShut } from '../state/capacity.js'
import { aheadOf, atCapacity, barred, failedHere, failedLately, haltText, incompleteText, isFullBy, isTestedBy, isUsedUp, listOf, missingOf, retryWith, skillsNeeded, waitingFor } from './gate-words.js'
import { OtherAgents } from './other-agents.js'
import { plural } from '../text/plural.js'
import { holderOfKey } from '../state/retention.js'
import { isFull, type Meter } from '../limits/meter.js'
import { isBumped, isHeld, type TaskRecord } from '../records/records.js'
import type { Tables } from '../state/tables.js'
import { isFinal } from '../model/task.js'
import { matchesType } from '../text/type-pattern.js'

/** The scopes of gates: when claims ask for a gate, and what the gate depends on. */
interface Scopes {
  /** Asked when the task changes. Its status tells the answer, and claims look only at tasks with the status `pending`. */
  readonly task: (task: TaskRecord, at: number, tables: Tables) => boolean
  /** Asked once for each claim. */
  readonly queue: (tables: Tables) => boolean
  /** Asked when something of the type changes. A shut gate closes the groups of the type. */
  readonly type: (tables: Tables, type: string) => boolean
  /** Asked when a counter of the meter moves. A shut gate closes the groups of the meter. */
  readonly limit: (meter: Meter) => boolean
  /** Asked once for each shape of claims and each group. */
  readonly group: (asked: ShapeOf, group: Group) => boolean
  /** Asked once for each claim about bumped tasks, and once about all others. */
  readonly asker: (tables: Tables, agent: string | undefined, at: number, isBumped: boolean) => boolean
  /** Asked for each task that a claim is about to take. */
  readonly agent: (task: TaskRecord, agent: string) => boolean
  /** Asked for each task for which the agent comes last, once the claim has found nothing else. */
  readonly last: (task: TaskRecord, others: OtherAgents) => boolean
}
type GateOf<S extends keyof Scopes> = {
  readonly code: ReasonCode
  readonly scope: S
  readonly isShut: Scopes[S]
  /** Why the gate is shut. */
  readonly words: (question: S extends 'queue' | 'asker' ? ClaimQuestion : Question) => Words
  /** A note while the gate is open and no particular agent asks. */
  readonly note?: (question: Question) => Words | undefined
}
export type Gate = { readonly [S in keyof Scopes]: GateOf<S> }[keyof Scopes]

/** All gates, in the order in which reasons are given. */
export const gates: ReadonlyArray<Gate> = [
  {
    code: 'held',
    scope: 'task',
    isShut: isHeld,
    words: ({ tables: { head }, task: { lease, status, extras: { maxRunSeconds } } }) => ({
      message: `${lease?.agent ?? 'an agent'} ${status === 'incomplete' ? incompleteText(head.settings) : 'is working on it'}${maxRunSeconds === undefined ? '' : `, for ${maxRunSeconds} s at most`}`,
      change: 'the report of this agent, or the end of its lease',
      ...(lease === null ? {} : { until: lease.expiresAt }),
    }),
  },
  {
    code: 'finished',
    scope: 'task',
    isShut: ({ status }) => isFinal(status),
    words: ({ tables, task: { id, status } }) => {
      const waiting = waitingFor(tables, id)
      return {
        message: `it is ${status}${waiting === undefined ? '' : `; what it found waits for a guardian: ${waiting}`}`,
        change: waiting === undefined ? 'nothing: to do it again, restart it or enqueue another task' : 'nothing; to go on with what it found, approve that',
      }
    },
  },
  {
    code: 'dead-letter',
    scope: 'task',
    isShut: ({ status }) => status === 'dead-letter',
    words: ({ tables, task, at }) => ({
      message: `it was given up (${task.extras.deadLetter?.reason ?? 'unknown why'}): ${task.extras.snooze === undefined ? `a reviewer ${task.extras.escalated === undefined ? '' : `(it was escalated by ${task.extras.escalated.reviewer}) `}sends it back or discards it${haltText(waitingFor(tables, task.id))}` : `${task.extras.snooze.reviewer} has it sent back later`}`,
      change: retryWith(task, holderOfKey(tables, task.key, at)),
      ...(task.extras.snooze === undefined ? {} : { until: task.delayedUntil }),
    }),
  },
  {
    code: 'blocked',
    scope: 'task',
    isShut: (task, _, tables) => task.status === 'blocked' && task.missing > (aheadOf(tables, task) === undefined ? 0 : 1),
    words: ({ tables, task }) => {
      const blockedBy = missingOf(tables, task)
      const dead = blockedBy.flatMap(({ id, status }) => (status === 'dead-letter' ? [id] : []))
      return {
        message: `it waits for ${blockedBy.map(({ id, status }) => `${id} (${status})`).join(', ')}`,
        change: `the completion of ${blockedBy.map(({ id }) => id).join(', ')}${dead.length === 0 ? '' : `; retry the dead letter ${dead.join(', ')} first`}`,
        blockedBy,
      }
    },
  },
  {
    code: 'ordering',
    scope: 'task',
    isShut: (task, _, tables) => task.status === 'blocked' && aheadOf(tables, task) !== undefined,
    words: ({ tables, task }) => {
      const key = task.extras.orderingKey ?? ''
      const { id, status } = aheadOf(tables, task) ?? task
      const end = status === 'dead-letter' ? `a reviewer who retries or discards the dead letter ${id}` : `the end of ${id}`
      return { message: `tasks of ordering key ${key} run one after the other, and ${id} (${status}) comes first`, change: `${end}, and of all that come before it`, blockedBy: [{ id, status }] }
    },
  },
  {
    code: 'scheduled',
    scope: 'task',
    isShut: ({ status, extras: { availableAt = 0 } }, at) => status === 'scheduled' || (status === 'blocked' && availableAt > at),
    words: ({ task: { status, retries, delayedUntil, extras, lease } }) => ({
      message: status !== 'scheduled' || (retries === 0 && extras.rateLimits === undefined) ? 'its time has not come' : lease?.end === 'rate-limited' ? 'it met a rate limit, and is tried again later' : 'it is tried again later',
      change: 'time, or amend the task with an earlier availableAt',
      until: status === 'scheduled' ? delayedUntil : (extras.availableAt ?? 0),
    }),
  },
  {
    code: 'waiting',
    scope: 'task',
    isShut: ({ status }) => status === 'waiting',
    words: ({ task: { lease, delayedUntil, extras: { parking } } }) => ({
      message: `${lease?.agent ?? 'an agent'} parked it until the callback ${parking?.key ?? ''} comes${parking?.onTimeout === 'requeue' ? '; without one it is ready again at the end of the wait' : '; without one in time the attempt has failed'}`,
      change: 'the callback',
      remedy: { callback: parking?.key ?? '' },
      until: delayedUntil,
    }),
  },
  {
    code: 'queue-paused',
    scope: 'queue',
    isShut: ({ head }) => head.paused !== null,
    words: ({ tables: { head } }) => ({ message: `the queue is paused${head.paused === '' ? '' : `: ${head.paused ?? ''}`}`, change: 'resume the queue' }),
  },
  {
    code: 'breaker-open',
    scope: 'type',
    isShut: ({ breakers }, type) => breakers.get(type)?.state === 'open',
    words: ({ tables: { breakers }, task: { group: { type } } }) => {
      const { reason = '', halfOpenAt = 0 } = breakers.get(type) ?? {}
      const isByHand = halfOpenAt === 0
      return {
        message: `the breaker of ${type} is open (${reason})${isByHand ? ', until it is closed by hand' : ''}`,
        change: `close the breaker of ${type}${isByHand ? '' : ', or wait: then one task tests the type'}`,
        ...(isByHand ? {} : { until: halfOpenAt }),
      }
    },
  },
  {
    code: 'breaker-half-open',
    scope: 'type',
    isShut: ({ breakers }, type) => isTested(breakers.get(type)),
    words: ({ tables: { breakers }, task: { group: { type } } }) => isTestedBy(type, `${breakers.get(type)?.probe?.id ?? ''} tests it now`),
    note: ({ tables: { breakers }, task: { group: { type } } }) =>
      breakers.get(type)?.state === 'half-open' ? isTestedBy(type, 'the next task that is claimed tests it') : undefined,
  },
  {
    code: 'slow-down',
    scope: 'type',
    isShut: ({ slowdowns }, type) => slowdowns.has(type),
    words: ({ tables: { slowdowns }, task: { group: { type } } }) => ({
      message: `an agent met a rate limit with a task of type ${type}, and the others wait for a while`,
      change: 'time alone',
      until: slowdowns.until(type),
    }),
  },
  {
    code: 'agent-sleeps',
    scope: 'asker',
    isShut: ({ sleepers }, agent) => agent !== undefined && sleepers.has(agent),
    words: ({ tables: { sleepers }, asker }) => ({
      message: `${asker?.agent ?? ''} met a rate limit, and gets no task for a while`,
      change: 'time alone, or claim as another agent',
      until: sleepers.until(asker?.agent ?? ''),
    }),
  },
  {
    code: 'concurrency-limit',
    scope: 'limit',
    isShut: isFull,
    words: ({ task: { group: { meters } } }) => isFullBy(meters.filter(isFull)),
  },
  {
    code: 'rate-limit',
    scope: 'limit',
    isShut: ({ shutUntil }) => shutUntil > 0,
    words: ({ task: { group: { meters } } }) => isUsedUp(meters.filter(({ shutUntil }) => shutUntil > 0)),
  },
  {
    code: 'type-not-claimed',
    scope: 'group',
    isShut: ({ types }, { type }) => types !== undefined && !types.some((pattern) => matchesType(pattern, type)),
    words: ({ task: { group }, asker }) => ({
      message: `its type is ${group.type}, and the claim asks for ${listOf(asker?.types)}`,
      change: `claim ${group.type} tasks`,
    }),
  },
  {
    code: 'phase-not-claimed',
    scope: 'group',
    isShut: ({ phases }, { phase }) => phases !== undefined && phase !== undefined && !phases.includes(phase),
    words: ({ task: { group }, asker }) => ({
      message: `its phase is ${group.phase ?? 'none'}, and the claim asks for ${listOf(asker?.phases)}`,
      change: `claim tasks of phase ${group.phase ?? 'none'}`,
    }),
  },
  {
    code: 'tenant-not-claimed',
    scope: 'group',
    isShut: ({ tenant }, group) => tenant !== undefined && group.tenant !== tenant,
    words: ({ task: { group }, asker }) => ({
      message: `its tenant is ${group.tenant ?? 'none'}, and the claim asks for ${asker?.tenant ?? 'any'}`,
      change: group.tenant === undefined ? 'claim without a tenant' : `claim tasks of tenant ${group.tenant}, or of all tenants`,
    }),
  },
  {
    code: 'skills-required',
    scope: 'group',
    isShut: ({ skills }, group) => group.skills.length > 0 && !group.skills.every((skill) => skills?.includes(skill) === true),
    words: ({ task: { group }, asker }) => skillsNeeded(group.skills, group.skills.filter((skill) => asker?.skills?.includes(skill) !== true)),
    note: ({ task: { group } }) => (group.skills.length === 0 ? undefined : skillsNeeded(group.skills, group.skills)),
  },
  {
    code: 'capacity',
    scope: 'asker',
    isShut: (tables, agent, _, isBumped) => isCapacityShut(tables, agent, isBumped),
    words: atCapacity,
  },
  {
    code: 'agent-full',
    scope: 'asker',
    isShut: (tables, agent, at) => roomOf(tables, agent, at) === 0,
    words: ({ tables, asker }) => {
      const agent = asker?.agent ?? ''
      return {
        message: `${agent} holds ${plural(tables.leases.get(agent)?.size ?? 0, 'task')}, as many as it registered for`,
        change: `the end of one of its leases, or register ${agent} with a higher maxTasks`,
      }
    },
  },
  {
    code: 'agents-barred',
    scope: 'agent',
    isShut: isBarred,
    words: ({ asker }) => barred([asker?.agent ?? '']),
    note: ({ task: { extras: { claimants = [] } } }) => (claimants.length === 0 ? undefined : barred([...new Set(claimants)])),
  },
  {
    code: 'failed-here-lately',
    scope: 'last',
    isShut: (task, others) => others.for(task) !== undefined,
    words: failedHere,
    note: failedLately,
  },
]

const isTested = (breaker: { readonly state: string; readonly probe: unknown } | undefined): boolean => breaker?.state === 'half-open' && breaker.probe !== null

// ------------------------------------------------------------------------------------ asked by claims

/** The question whether one of the gates of this scope is shut. */
const isAnyShut = <S extends keyof Scopes>(scope: S): Scopes[S] => {
  // Each gate of the scope takes the same arguments, four at most.
  const tests = gates.flatMap((gate) => (gate.scope === scope ? [gate.isShut as (...given: ReadonlyArray<unknown>) => boolean] : []))
  const ask = (a: unknown, b: unknown, c: unknown, d: unknown): boolean => {
    for (const isShut of tests) if (isShut(a, b, c, d)) return true
    return false
  }
  return ask as Scopes[S]
}
/** Whether no task of the queue is claimed now. */
export const isQueueShut = isAnyShut('queue')
/** Whether no task of this type is claimed now. */
export const isTypeShut = isAnyShut('type')
const isLimitShut = isAnyShut('limit')
/** Whether a limit closes this group. One that stands apart closes no groups: see `limits/section.ts`. */
export const isLimited = ({ meters }: Group): boolean => {
  for (const meter of meters) if (meter.apart === undefined && isLimitShut(meter)) return true
  return false
}
/** Whether a claim of this shape gets no task of the group. */
export const isGroupShut = isAnyShut('group')
/** Whether this agent gets no bumped task, or no other task. */
export const isAskerShut = isAnyShut('asker')
/** Whether an agent that comes last for this task does not get it even if there is nothing else. */
export const isLastShut = isAnyShut('last')
/** Whether this agent does not get this task. */
export const isAgentShut = isAnyShut('agent')

// ----------------------------------------------------------------------------------- asked for reasons

/** Why a claim gets no task that is not bumped. */
export const reasonOfClaim = (question: ClaimQuestion): Reason | undefined => {
  const { tables, at, asker } = question
  for (const gate of gates) {
    const isShut = gate.scope === 'queue' ? gate.isShut(tables) : gate.scope === 'asker' && gate.isShut(tables, asker?.agent, at, false)
    if (isShut && (gate.scope === 'queue' || gate.scope === 'asker')) return { code: gate.code, ...gate.words(question) }
  }
  return undefined
}

/** Why no task of this task's group is claimed now, whoever asks. */
export const reasonOfGroup = (question: Question): Reason | undefined => {
  for (const gate of gates) {
    if ((gate.scope === 'type' || gate.scope === 'limit') && isShutFor(gate, question)) return { code: gate.code, ...gate.words(question) }
  }
  return undefined
}

/** Whether this gate keeps the task from being claimed. */
export const isShutFor = (gate: Gate, { tables, task, at, asker }: Question): boolean => {
  switch (gate.scope) {
    case 'task':
      return gate.isShut(task, at, tables)
    case 'queue':
      return gate.isShut(tables)
    case 'type':
      return gate.isShut(tables, task.group.type)
    case 'limit':
      return task.group.meters.some(gate.isShut)
    case 'group':
      return asker !== undefined && gate.isShut(asker, task.group)
    case 'asker':
      return gate.isShut(tables, asker?.agent, at, isBumped(task))
    case 'agent':
      return asker?.agent !== undefined && gate.isShut(task, asker.agent)
    case 'last': {
      const agent = asker?.agent
      return agent !== undefined && lastUntil(tables, task, agent, at) > 0 && gate.isShut(task, new OtherAgents(tables, agent, at))
    }
  }
}
