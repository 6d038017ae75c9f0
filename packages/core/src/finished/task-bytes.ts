/**
 * A finished task's record as bytes, and back: all of its fields, in about 90 bytes for a task with an id and a key made by Daybook, instead
 * of about 500. What many tasks have in common, the group and the agent, is given by a number.
 */
import type { Group } from '../group.js'
import { leaseEnds, newTaskRecord, noExtras, type TaskExtras, type TaskRecord } from '../state.js'
import { isFinal, type Status, statuses } from '../task.js'
import { ByteReader, type ByteWriter } from './bytes.js'

/** What else is there besides the numbers, as bits. */
const has = { lease: 1, dependencies: 2, extras: 4 } as const

/** The fields are in this order so that what is asked for most can be read without the rest. Times are given by their distance from `finishedAt`, revisions by theirs from `enqueuedRevision`. */
export const writeTask = (to: ByteWriter, task: TaskRecord, group: number, agent: number): void => {
  const { lease, finishedAt, enqueuedRevision } = task
  const hasExtras = task.extras !== noExtras && !isEmpty(task.extras)
  to.number(finishedAt)
  to.number(task.number)
  to.text(task.id)
  to.text(task.key)
  to.number((lease === null ? 0 : has.lease) + (task.dependencies.length === 0 ? 0 : has.dependencies) + (hasExtras ? has.extras : 0))
  to.number(group)
  if (lease !== null) to.number(agent)
  to.number(statuses.indexOf(task.status))
  to.number(task.priority)
  to.number(task.timeout)
  to.number(task.maxRetries)
  to.number(task.backoffSeconds)
  to.number(finishedAt - task.enqueuedAt)
  to.number(enqueuedRevision)
  to.number(task.lastRevision - enqueuedRevision)
  to.number(task.retries)
  to.number(task.attempts)
  to.number(task.missing)
  to.number(task.blocking)
  to.number(task.delayedUntil)
  if (lease !== null) {
    to.number(lease.token)
    to.number(finishedAt - lease.claimedAt)
    to.number(lease.durationMs)
    to.number(lease.expiresAt - lease.claimedAt - lease.durationMs)
    to.number(lease.epoch)
    to.number(2 * (lease.end === null ? 0 : leaseEnds.indexOf(lease.end) + 1) + (lease.probe ? 1 : 0))
  }
  if (task.dependencies.length > 0) to.text(JSON.stringify(task.dependencies))
  if (hasExtras) to.text(JSON.stringify(task.extras))
}

const isEmpty = (value: object): boolean => {
  for (const _ in value) return false
  return true
}

/** What the numbers in rows mean. */
export interface NamesOf<T> {
  readonly get: (index: number) => T
}

/** Reads a record. */
export const readTask = (bytes: Uint8Array, at: number, groups: NamesOf<Group>, agents: NamesOf<string>): TaskRecord => {
  const from = new ByteReader(bytes, at)
  const finishedAt = from.number()
  const number = from.number()
  const id = from.text()
  const key = from.text()
  const parts = from.number()
  const group = from.number()
  const agentIndex = (parts & has.lease) === 0 ? -1 : from.number()
  const status = statuses[from.number()] as Status
  const priority = from.number()
  const timeout = from.number()
  const maxRetries = from.number()
  const backoffSeconds = from.number()
  const enqueuedAt = finishedAt - from.number()
  const enqueuedRevision = from.number()
  const lastRevision = enqueuedRevision + from.number()
  const retries = from.number()
  const attempts = from.number()
  const missing = from.number()
  const blocking = from.number()
  const delayedUntil = from.number()
  let lease: TaskRecord['lease'] = null
  if ((parts & has.lease) !== 0) {
    const agent = agents.get(agentIndex)
    const token = from.number()
    const claimedAt = finishedAt - from.number()
    const durationMs = from.number()
    const expiresAt = claimedAt + durationMs + from.number()
    const epoch = from.number()
    const end = from.number()
    lease = { agent, token, claimedAt, expiresAt, durationMs, epoch, probe: end % 2 === 1, end: leaseEnds[(end >> 1) - 1] ?? null }
  }
  const dependencies = (parts & has.dependencies) === 0 ? noIds : (JSON.parse(from.text()) as ReadonlyArray<string>)
  const extras = (parts & has.extras) === 0 ? noExtras : (JSON.parse(from.text()) as TaskExtras)
  const task = newTaskRecord({
    number,
    id,
    key,
    group: groups.get(group),
    priority,
    timeout,
    maxRetries,
    backoffSeconds,
    enqueuedAt,
    enqueuedRevision,
    dependencies,
    status,
    retries,
    missing,
    delayedUntil,
    finishedAt,
    extras,
  })
  task.attempts = attempts
  task.blocking = blocking
  task.lastRevision = lastRevision
  task.lease = lease
  return task
}
const noIds: ReadonlyArray<string> = []

/** What of a row the indexes and counts of the state have. */
export interface RowFacts {
  readonly number: number
  readonly id: string
  readonly key: string
  readonly group: number
  /** -1: none. */
  readonly agent: number
  readonly status: Status
  readonly priority: number
  readonly hasExtras: boolean
}

export const factsAt = (bytes: Uint8Array, at: number): RowFacts => {
  const from = new ByteReader(bytes, at)
  from.number()
  const number = from.number()
  const id = from.text()
  const key = from.text()
  const parts = from.number()
  const group = from.number()
  const agent = (parts & has.lease) === 0 ? -1 : from.number()
  const status = statuses[from.number()]
  if (status === undefined || !isFinal(status)) throw new Error(`the finished task ${number} is not finished`)
  return { number, id, key, group, agent, status, priority: from.number(), hasExtras: (parts & has.extras) !== 0 }
}

/** Its finish time. */
export const finishedAtOf = (bytes: Uint8Array, at: number): number => new ByteReader(bytes, at).number()

export const numberAt = (bytes: Uint8Array, at: number): number => {
  const from = new ByteReader(bytes, at)
  from.number()
  return from.number()
}

export const idAt = (bytes: Uint8Array, at: number): string => {
  const from = new ByteReader(bytes, at)
  from.number()
  from.number()
  return from.text()
}

export const keyAt = (bytes: Uint8Array, at: number): string => {
  const from = new ByteReader(bytes, at)
  from.number()
  from.number()
  from.skipText()
  return from.text()
}
