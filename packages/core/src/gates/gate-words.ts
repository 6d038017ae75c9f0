/** The words of the gates in `gates.ts`: what reasons say to people. */
import { approvalsOfTask } from '../state/approvals.js'
import { activeAgents } from '../state/capacity.js'
import type { ClaimQuestion, Question, Reason, Words } from './reason.js'
import { failersOf, getsAgainAt } from './assignment.js'
import { nameOf } from '../model/limit.js'
import type { Meter } from '../limits/meter.js'
import { OtherAgents } from './other-agents.js'
import { isFinal } from '../model/task.js'
import { plural } from '../text/plural.js'
import type { Settings } from '../model/settings.js'
import type { TaskRecord } from '../records/records.js'
import type { Tables } from '../state/tables.js'

/** The reason of a task whose breaker is half-open. */
export const isTestedBy = (type: string, test: string): Words => ({
  message: `the breaker of ${type} is half-open: ${test}`,
  change: `the outcome of the test, or close the breaker of ${type}`,
})
/** The reason of an agent that cannot start because the queue is at capacity. */
export const atCapacity = ({ tables, task }: ClaimQuestion): Words => {
  const { maxConcurrentAgents, overcapLimit, bumpAndStart } = tables.head.settings.capacity
  const active = activeAgents(tables)
  // Only a ready task can be bumped.
  const canBump = bumpAndStart && active < maxConcurrentAgents + overcapLimit && (task === undefined || task.status === 'pending')
  return {
    message: `at capacity: ${active} of ${maxConcurrentAgents} agents are working, and no other starts`,
    change: `the end of the last lease of one of them, or raise capacity.maxConcurrentAgents${canBump ? ', or bump the task' : ''}`,
  }
}
/** The reason of a task whose limits have no room for another lease. */
export const isFullBy = (meters: ReadonlyArray<Meter>): Words => {
  // The end of a lease does not help where none may be held.
  const isNever = meters.some(({ limit }) => limit?.concurrency === 0)
  return {
    message: meters.map(({ key, live, limit }) => `${nameOf(key)} may hold ${limit?.concurrency ?? 0} ${limit?.concurrency === 1 ? 'lease' : 'leases'} at once, and holds ${live}`).join('; '),
    change: `${isNever ? '' : meters.length === 1 ? 'the end of a lease, or ' : 'the end of a lease of each, or '}${higher('limit', meters)}`,
    remedy: { limits: meters.map(({ key }) => key) },
  }
}
/** The reason of a task whose rates have no start left. */
export const isUsedUp = (meters: ReadonlyArray<Meter>): Words => {
  const until = Math.max(...meters.map(({ shutUntil }) => shutUntil))
  return {
    message: meters.map((meter) => `${rateText(meter)}, and has`).join('; '),
    change: `time, or ${higher('rate', meters)}`,
    remedy: { limits: meters.map(({ key }) => key) },
    ...(until > 0 ? { until } : {}),
  }
}
/** All of them have to be raised. */
const higher = (what: 'limit' | 'rate', meters: ReadonlyArray<Meter>): string =>
  meters.length === 1 ? `a higher ${what}` : `higher ${what}s`

/** The reason of a task whose rate has no start left after those of the tasks that come first. */
export const isToBeUsedUp = (meter: Meter): Words => ({
  message: rateText(meter),
  change: 'the starts of the tasks that come first, and time; or a higher rate',
  remedy: { limits: [meter.key] },
})
const rateText = ({ key, limit }: Meter): string => `${nameOf(key)} may start ${limit?.rate?.starts ?? 0} in ${limit?.rate?.perSeconds ?? 0} s`
/** The reason of a task that comes after as many as its agent has room for. */
export const roomFilled = (agent: string, room: number): Words => ({
  message: `${agent} may take ${plural(room, 'more task')}, as it registered, and others come first`,
  change: `the end of the tasks that it takes first, or register ${agent} with a higher maxTasks`,
})

export const skillsNeeded = (skills: ReadonlyArray<string>, lacking: ReadonlyArray<string>): Words => ({
  message: `only an agent with these skills may take it: ${skills.join(', ')}`,
  change: `claim with ${lacking.length === 1 ? 'the skill' : 'the skills'} ${lacking.join(', ')}`,
})
export const barred = (agents: ReadonlyArray<string>): Words => ({
  message: `${agents.join(', ')} gave it back and will not get it again`,
  change: 'claim as another agent',
})
/** The reason of a claim that finds only tasks that its agent gave back. */
export const barredFromAll = (agent: string): Words => ({
  message: `${agent} gave back what is ready for it, and will not get it again`,
  change: 'claim as another agent',
})
/** How a dead letter comes back. `rival`: a later task with the same key. */
export const retryWith = (task: TaskRecord, rival: TaskRecord | undefined): string => {
  if (rival === undefined) return 'retry the dead letter'
  if (!isFinal(rival.status)) return `cancel ${rival.id}, which was enqueued since with the same idempotency key, and retry the dead letter`
  return `nothing, while ${rival.id}, which was enqueued since with the same idempotency key, is known: discard ${task.id}`
}
/** Of a task whose agent has completed it without the decision report. */
export const incompleteText = ({ decisionReport }: Pick<Settings, 'decisionReport'>): string =>
  decisionReport === 'required' ? 'has completed it and has to hand in the decision report' : 'has completed it without the decision report that was required then, and has to complete it again'
export const listOf = (names: ReadonlyArray<string> = []): string => (names.length === 0 ? 'none' : names.join(', '))

/** The task that must be finished before this one may run, because both have the same ordering key. */
export const aheadOf = ({ lines }: Tables, { extras: { orderingKey }, number }: TaskRecord): TaskRecord | undefined => {
  if (orderingKey === undefined) return undefined
  const first = lines.get(orderingKey)?.first()
  return first === undefined || first.number >= number ? undefined : first
}

/** The dependencies that are not completed. */
export const missingOf = (tables: Tables, task: TaskRecord): NonNullable<Reason['blockedBy']> =>
  task.dependencies.flatMap((id) => {
    const dependency = tables.byId.get(id)
    // A later task with the same id is another task: the dependency was completed and evicted.
    return dependency === undefined || dependency.number > task.number || dependency.status === 'completed' ? [] : [{ id, status: dependency.status }]
  })

/** The reason of an agent that comes last for a task that another agent can take. */
export const failedHere = ({ tables, task, at, asker }: Question): Words => {
  const agent = asker?.agent ?? ''
  const other = new OtherAgents(tables, agent, at).for(task)?.agent ?? ''
  return {
    message: `${agent} failed it lately and comes last for it; ${other}, which is registered, can take it`,
    change: `${other} takes it, or its registration ends; or time alone`,
    until: getsAgainAt(tables, task, agent, at),
  }
}

/** The reason of a claim that ends before it has found anything. */
export const tooManyPassed = ({ head }: Tables): Words => {
  const { maxQueueScanBatch } = head.settings.assignment
  return {
    message: `more than ${maxQueueScanBatch} tasks come first that the agent gave back or failed lately, and a claim passes over ${maxQueueScanBatch} at most`,
    change: 'claim as another agent, or raise assignment.maxQueueScanBatch',
  }
}

/** A note about a task that can be taken: the agents that come last for it. */
export const failedLately = ({ tables, task, at, asker }: Question): Words | undefined => {
  const last = failersOf(tables, task, at).filter(({ agent }) => asker?.agent === undefined || agent === asker.agent)
  if (last.length === 0) return undefined
  return {
    message: `failed it lately, and gets it again only if it finds nothing else: ${last.map(({ agent }) => agent).join(', ')}`,
    change: 'claim as another agent, or time alone',
    until: Math.max(...last.map(({ until }) => until)),
  }
}

/** The approvals that wait because of this task, in words; `undefined` if there are none. */
export const waitingFor = (tables: Tables, id: string): string | undefined => {
  const waiting = approvalsOfTask(tables, id)
  return waiting.length === 0 ? undefined : waiting.map((approval) => approval.id).join(', ')
}
export const haltText = (waiting: string | undefined): string => (waiting === undefined ? '' : `, or a guardian, because its chain of fixes is halted: ${waiting}`)
