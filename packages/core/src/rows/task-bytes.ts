/**
 * A task's record as bytes, and back. All fields take about 80 bytes for a task whose id and key were made by Daybook; a record takes about 500. Group
 * and agent, which many tasks share, are written as numbers.
 */
import type { Group } from '../records/group.js'
import { settingsDefault } from '../model/settings.js'
import { isFinal, priorityOf, type Status, statuses } from '../model/task.js'
import { ByteReader, type ByteWriter, kindOfUuid } from './bytes.js'
import { isBumped, leaseEnds, newTaskRecord, noExtras, type TaskExtras, type TaskRecord } from '../records/records.js'
import { checkBits, checkOfBytes, hashOfBytes } from './text-hash.js'

/** Flags: which optional parts a row has, and which numbers have their usual value and are not written. */
const has = {
  lease: 1,
  dependencies: 2,
  extras: 4,
  /** One attempt, no retry, nothing to wait for and no delay. */
  oneAttempt: 8,
  /** The number of retries is the queue's default. */
  usualRetries: 16,
  /** The lease was as long as the task allows, and did not end without success. */
  plainLease: 32,
  /** The state has an index of the task, besides those that have all tasks: see {@link isIndexed}. */
  index: 64,
} as const
const usualRetries = settingsDefault.defaults

/** Status and priority are written as one number, the standing. */
const statusOrder = [...statuses.filter(isFinal), ...statuses.filter((status) => !isFinal(status))]
const priorities = 16

export const standingOf = ({ status, priority }: TaskRecord): number => statusOrder.indexOf(status) * priorities + priority

/**
 * The order of the fields allows to read what is asked for most without the rest. Times are stored relative to the time in the id, or to
 * `finishedAt`, of an unfinished task `enqueuedAt`; revisions relative to `enqueuedRevision`.
 */
export const writeTask = (to: ByteWriter, task: TaskRecord, group: number, agent: number): void => {
  const { lease, enqueuedAt, enqueuedRevision, status } = task
  const end = isFinal(status) ? task.finishedAt : enqueuedAt
  const extras = isFinal(status) ? keptOf(task.extras) : task.extras
  const parts = partsOf(task, extras)
  const begin = to.length
  to.text(task.id)
  const made = timeInId(to.bytes, begin)
  to.text(task.key)
  to.number(task.number)
  to.number(end - made)
  to.number(parts)
  to.number(group)
  if (lease !== null) to.number(agent)
  to.number(standingOf(task))
  to.number(task.timeout)
  to.number(made > 0 ? enqueuedAt - made : end - enqueuedAt)
  to.number(enqueuedRevision)
  to.number(task.lastRevision - enqueuedRevision)
  if ((parts & has.usualRetries) === 0) {
    to.number(task.maxRetries)
    to.number(task.backoffSeconds)
  }
  if ((parts & has.oneAttempt) === 0) {
    to.number(task.retries)
    to.number(task.attempts)
    to.number(task.missing)
    to.number(blockingOf(task))
    to.number(task.delayedUntil)
  }
  if (lease !== null) {
    to.number(lease.token)
    to.number(isFinal(status) ? end - lease.claimedAt : lease.claimedAt - end)
    if ((parts & has.plainLease) === 0) {
      to.number(lease.durationMs)
      to.number(lease.expiresAt - lease.claimedAt - lease.durationMs)
      to.number(lease.epoch)
      to.number(2 * (lease.end === null ? 0 : leaseEnds.indexOf(lease.end) + 1) + (lease.probe ? 1 : 0))
    }
  }
  if (task.dependencies.length > 0) to.text(JSON.stringify(task.dependencies))
  if ((parts & has.extras) !== 0) to.text(JSON.stringify(extras))
}

/** Writes the row from `at` to `end` again, with other numbers for its group and its agent. */
export const renameRow = (to: ByteWriter, bytes: Uint8Array, at: number, end: number, groupOf: (group: number) => number, agentOf: (agent: number) => number): void => {
  const from = new ByteReader(bytes, at)
  from.skipText()
  from.skipText()
  from.number()
  from.number()
  const parts = from.number()
  to.copy(bytes, at, from.position)
  to.number(groupOf(from.number()))
  if ((parts & has.lease) !== 0) to.number(agentOf(from.number()))
  to.copy(bytes, from.position, end)
}

/** Without fields that are of no use after the finish and that every CRITICAL task has. */
const keptOf = (extras: TaskExtras): TaskExtras => {
  if (extras.readySince === undefined) return extras
  const { readySince: _, ...kept } = extras
  return kept
}

/** That of an unfinished task is counted again with its dependents. */
const blockingOf = ({ status, blocking }: TaskRecord): number => (isFinal(status) ? blocking : 0)

const partsOf = (task: TaskRecord, extras: TaskExtras): number => {
  const { lease, timeout, dependencies, retries, attempts, missing, delayedUntil, maxRetries, backoffSeconds } = task
  const isOne = attempts === 1 && retries === 0 && missing === 0 && blockingOf(task) === 0 && delayedUntil === 0
  const isUsual = maxRetries === usualRetries.maxRetries && backoffSeconds === usualRetries.backoffSeconds
  const isPlain = lease !== null && lease.durationMs === timeout * 1_000 && lease.expiresAt === lease.claimedAt + lease.durationMs && lease.epoch === 0 && lease.end === null && !lease.probe
  return (
    (lease === null ? 0 : has.lease) |
    (dependencies.length === 0 ? 0 : has.dependencies) |
    (extras === noExtras || isEmpty(extras) ? 0 : has.extras) |
    (isOne ? has.oneAttempt : 0) |
    (isUsual ? has.usualRetries : 0) |
    (isPlain ? has.plainLease : 0) |
    (isIndexed(task) ? has.index : 0)
  )
}

/**
 * Whether the state has an index of the task, besides those by number, id, key, status and group. Loading a snapshot makes records only of such tasks:
 * of a finished task with a ticket, chain or callback key; and of an unfinished one unless it is merely ready.
 */
export const isIndexed = (task: TaskRecord): boolean => {
  const { status, priority, extras } = task
  if (extras.ticketId !== undefined || extras.rootTaskId !== undefined || extras.parking !== undefined) return true
  if (isFinal(status)) return false
  return status !== 'pending' || priority === priorityOf.CRITICAL || extras.orderingKey !== undefined || extras.batchId !== undefined || isBumped(task)
}

/** When an id made by Daybook was made (a UUID of version 7), in milliseconds; 0 for all others. */
const timeInId = (bytes: Uint8Array, at: number): number => {
  if (bytes[at] !== kindOfUuid || (bytes[at + 7] as number) >> 4 !== 7) return 0
  let time = 0
  for (let i = 1; i <= 6; i++) time = time * 256 + (bytes[at + i] as number)
  return time
}

const isEmpty = (value: object): boolean => {
  for (const _ in value) return false
  return true
}

/** The groups or agents that the numbers in rows stand for. */
export interface NamesOf<T> {
  readonly get: (index: number) => T
}

/** Reads a record. That of an unfinished task still lacks its dependents. */
export const readTask = (bytes: Uint8Array, at: number, groups: NamesOf<Group>, agents: NamesOf<string>): TaskRecord => {
  const from = new ByteReader(bytes, at)
  const made = timeInId(bytes, at)
  const id = from.text()
  const key = from.text()
  const number = from.number()
  const end = made + from.number()
  const parts = from.number()
  const group = from.number()
  const agentIndex = (parts & has.lease) === 0 ? -1 : from.number()
  const standing = from.number()
  const status = statusIn(standing)
  const timeout = from.number()
  const since = from.number()
  const enqueuedAt = made > 0 ? made + since : end - since
  const enqueuedRevision = from.number()
  const lastRevision = enqueuedRevision + from.number()
  const isUsual = (parts & has.usualRetries) !== 0
  const maxRetries = isUsual ? usualRetries.maxRetries : from.number()
  const backoffSeconds = isUsual ? usualRetries.backoffSeconds : from.number()
  const isOne = (parts & has.oneAttempt) !== 0
  const retries = isOne ? 0 : from.number()
  const attempts = isOne ? 1 : from.number()
  const missing = isOne ? 0 : from.number()
  const blocking = isOne ? 0 : from.number()
  const delayedUntil = isOne ? 0 : from.number()
  let lease: TaskRecord['lease'] = null
  if ((parts & has.lease) !== 0) {
    const isPlain = (parts & has.plainLease) !== 0
    const agent = agents.get(agentIndex)
    const token = from.number()
    const apart = from.number()
    const claimedAt = isFinal(status) ? end - apart : end + apart
    const durationMs = isPlain ? timeout * 1_000 : from.number()
    const expiresAt = claimedAt + durationMs + (isPlain ? 0 : from.number())
    const epoch = isPlain ? 0 : from.number()
    const ended = isPlain ? 0 : from.number()
    lease = { agent, token, claimedAt, expiresAt, durationMs, epoch, probe: ended % 2 === 1, end: leaseEnds[(ended >> 1) - 1] ?? null }
  }
  const dependencies = (parts & has.dependencies) === 0 ? noIds : (JSON.parse(from.text()) as ReadonlyArray<string>)
  const extras = (parts & has.extras) === 0 ? noExtras : (JSON.parse(from.text()) as TaskExtras)
  const task = newTaskRecord({
    number,
    id,
    key,
    group: groups.get(group),
    priority: standing % priorities,
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
    finishedAt: isFinal(status) ? end : 0,
    extras,
  })
  task.attempts = attempts
  task.blocking = blocking
  task.lastRevision = lastRevision
  task.lease = lease
  return task
}
const noIds: ReadonlyArray<string> = []

/** The parts of a row that the state's counts need. */
export interface RowFacts {
  readonly number: number
  readonly group: number
  /** -1 for none. */
  readonly agent: number
  /** Status and priority: see {@link statusIn} and {@link priorityIn}. */
  readonly standing: number
  /** See {@link isIndexed}. */
  readonly isIndexed: boolean
  readonly idHash: number
  readonly keyHash: number
  /** Check bits of the id, in the lower half, and of the key, in the upper half. */
  readonly checks: number
}

/** Throws if there is no such status. */
export const statusIn = (standing: number): Status => {
  const status = statusOrder[Math.floor(standing / priorities)]
  if (status === undefined) throw new Error(`a task has the status ${Math.floor(standing / priorities)}`)
  return status
}

/** Throws if it is not the standing of a finished task. */
export const finalStatusIn = (standing: number): Status => {
  const status = statusIn(standing)
  if (!isFinal(status)) throw new Error('a finished task is not finished')
  return status
}

export const priorityIn = (standing: number): number => standing % priorities

/** `seed`: that of the hashes. */
export const factsAt = (bytes: Uint8Array, at: number, seed: number): RowFacts => {
  const from = new ByteReader(bytes, at)
  from.skipText()
  const key = from.position
  from.skipText()
  const { position: end } = from
  const number = from.number()
  from.number()
  const parts = from.number()
  const group = from.number()
  const agent = (parts & has.lease) === 0 ? -1 : from.number()
  return {
    number,
    group,
    agent,
    standing: from.number(),
    isIndexed: (parts & has.index) !== 0,
    idHash: hashOfBytes(bytes, at, key, seed),
    keyHash: hashOfBytes(bytes, key, end, seed),
    checks: checkOfBytes(bytes, at, key, seed) | (checkOfBytes(bytes, key, end, seed) << checkBits),
  }
}

/** What the order of ready tasks needs of one. */
export type RowRank = Pick<TaskRecord, 'number' | 'group' | 'priority' | 'enqueuedAt' | 'retries' | 'maxRetries' | 'blocking' | 'extras'>

/** Reads it from a row that a load leaves as it is: see {@link isIndexed}. If a task depended on this one, it would have a record. */
export const rankAt = (bytes: Uint8Array, at: number, groups: NamesOf<Group>): RowRank => {
  const from = new ByteReader(bytes, at)
  from.skipText()
  from.skipText()
  const number = from.number()
  const enqueuedAt = timeInId(bytes, at) + from.number()
  const parts = from.number()
  const group = groups.get(from.number())
  const hasLease = (parts & has.lease) !== 0
  from.skipNumbers(hasLease ? 1 : 0)
  const priority = priorityIn(from.number())
  // The timeout, the time again, and two revisions.
  from.skipNumbers(4)
  const isUsual = (parts & has.usualRetries) !== 0
  const maxRetries = isUsual ? usualRetries.maxRetries : from.number()
  from.skipNumbers(isUsual ? 0 : 1)
  const isOne = (parts & has.oneAttempt) !== 0
  const retries = isOne ? 0 : from.number()
  let extras = noExtras
  if ((parts & has.extras) !== 0) {
    from.skipNumbers(isOne ? 0 : 4)
    if (hasLease) from.skipNumbers((parts & has.plainLease) === 0 ? 6 : 2)
    if ((parts & has.dependencies) !== 0) from.skipText()
    extras = JSON.parse(from.text()) as TaskExtras
  }
  return { number, group, priority, enqueuedAt, retries, maxRetries, blocking: 0, extras }
}

export const finishedAtOf = (bytes: Uint8Array, at: number): number => {
  const from = new ByteReader(bytes, at)
  from.skipText()
  from.skipText()
  from.number()
  return timeInId(bytes, at) + from.number()
}

export const idAt = (bytes: Uint8Array, at: number): string => new ByteReader(bytes, at).text()

export const keyAt = (bytes: Uint8Array, at: number): string => {
  const from = new ByteReader(bytes, at)
  from.skipText()
  return from.text()
}

/** The hash of the task's id, computed without making the text. */
export const idHashAt = (bytes: Uint8Array, at: number, seed: number): number => {
  const from = new ByteReader(bytes, at)
  from.skipText()
  return hashOfBytes(bytes, at, from.position, seed)
}

export const keyHashAt = (bytes: Uint8Array, at: number, seed: number): number => {
  const from = new ByteReader(bytes, at)
  from.skipText()
  const begin = from.position
  from.skipText()
  return hashOfBytes(bytes, begin, from.position, seed)
}

export const idCheckIn = (checks: number): number => checks % 2 ** checkBits
export const keyCheckIn = (checks: number): number => checks >>> checkBits
