/**
 * Chooses the tasks of a claim (LK-06): first the groups from which the agent may take tasks, then the
 * first of their tasks. The groups' sorted lists are merged from their heads, so the cost grows with the
 * number of groups and not with the backlog.
 */
import * as E from 'fp-ts/lib/Either.js'
import type { CommandOf, Envelope } from '../commands.js'
import type { QueueEvent } from '../events.js'
import type { Rejection } from '../rejections.js'
import { toInstant } from '../scalars.js'
import type { Cursor } from '../sorted-list.js'
import { type Breaker, type Group, rankOf, type TaskRecord } from '../state.js'
import type { Tables } from '../tables.js'

export type ClaimRequest = Pick<CommandOf<'Claim'>, 'agent' | 'types' | 'phases' | 'skills' | 'tenant'>

export const decideClaim = (
  command: CommandOf<'Claim'>,
  tables: Tables,
  envelope: Envelope,
): E.Either<Rejection, ReadonlyArray<QueueEvent>> => {
  const { at } = envelope
  const { agent, leaseSeconds } = command
  let token = tables.head.lastToken
  const picked = pickTasks(tables, command, command.max)
  tables.expect(picked)
  return E.right(
    picked.map(({ task, probe }) => {
      const claim = { task: task.id, agent, token: ++token, expiresAt: toInstant(at + leaseMsOf(task, leaseSeconds)) }
      return { type: 'Claimed', at, data: probe ? { ...claim, probe: true } : claim }
    }),
  )
}

/** A task allows leases of `timeout` seconds (LK-08). A claim may ask for shorter ones. */
const leaseMsOf = ({ timeout }: TaskRecord, leaseSeconds = timeout): number => Math.ceil(Math.min(timeout, leaseSeconds) * 1_000)

export interface Picked {
  readonly task: TaskRecord
  /** The claim is a half-open breaker's test. */
  readonly probe: boolean
}

/** The tasks that this agent would get now, in order. Changes nothing. */
export const pickTasks = (tables: Tables, request: ClaimRequest, max: number): ReadonlyArray<Picked> => {
  const picked: Array<Picked> = []
  if (tables.head.paused !== null || tables.counts.pending === 0) return picked
  let open = openGroups(tables, request)
  let passedOver = 0
  const { maxQueueScanBatch } = tables.head.settings.assignment
  while (picked.length < max && open.length > 0) {
    const best = firstOf(open)
    const task = best.cursor.item as TaskRecord
    best.cursor.advance()
    if (task.extras.claimants?.includes(request.agent) === true) {
      if (++passedOver >= maxQueueScanBatch) break
    } else {
      picked.push({ task, probe: best.probe })
      // A half-open breaker admits exactly one test task (LK-15).
      if (best.probe) open = open.filter((candidate) => candidate.group.type !== best.group.type)
    }
    if (best.cursor.item === undefined) open = open.filter((candidate) => candidate !== best)
  }
  return picked
}

interface OpenGroup {
  readonly group: Group
  readonly cursor: Cursor<TaskRecord>
  readonly probe: boolean
}

const openGroups = (tables: Tables, request: ClaimRequest): ReadonlyArray<OpenGroup> => {
  const open: Array<OpenGroup> = []
  for (const group of tables.groups.values()) {
    if (group.byStatus.pending.size === 0 || !mayTake(request, group)) continue
    const breaker = tables.breakers.get(group.type)
    if (breaker !== undefined && isShut(breaker)) continue
    open.push({ group, cursor: group.byStatus.pending.cursor(), probe: breaker?.state === 'half-open' })
  }
  return open
}

/** Whether the breaker admits no task of its type now: it is open, or its probe is under way (INV-6). */
export const isShut = ({ state, probe }: Breaker): boolean => state === 'open' || (state === 'half-open' && probe !== null)

const firstOf = (open: ReadonlyArray<OpenGroup>): OpenGroup => {
  let best = open[0] as OpenGroup
  for (let i = 1; i < open.length; i++) {
    const candidate = open[i] as OpenGroup
    if (rankOf(candidate.cursor.item as TaskRecord) < rankOf(best.cursor.item as TaskRecord)) best = candidate
  }
  return best
}

/** Whether the group matches what the claim asks for. */
export const mayTake = (request: Omit<ClaimRequest, 'agent'>, group: Group): boolean => {
  const { types, phases, skills, tenant } = request
  if (types !== undefined && !types.some((pattern) => matchesType(pattern, group.type))) return false
  if (phases !== undefined && group.phase !== undefined && !phases.includes(group.phase)) return false
  if (tenant !== undefined && group.tenant !== tenant) return false
  return group.skills.length === 0 || group.skills.every((skill) => skills?.includes(skill) === true)
}

/** `eng-backend`, `eng-*`, `*`. */
export const matchesType = (pattern: string, type: string): boolean =>
  pattern.endsWith('*') ? type.startsWith(pattern.slice(0, -1)) : pattern === type
