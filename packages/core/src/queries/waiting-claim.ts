/** What the engine asks about waiting claims: what they look at, when they may find more, and why they find nothing. */
import { getsAgainAt, roomOf, takeOver } from '../gates/assignment.js'
import { activeAgents, isAtCapacity } from '../state/capacity.js'
import { type ClaimRequest, scan } from '../decide/claim.js'
import { barredFromAll, failedHere, tooManyPassed } from '../gates/gate-words.js'
import { isQueueShut, reasonOfClaim, reasonOfGroup } from '../gates/gates.js'
import type { Asker, Reason } from '../gates/reason.js'
import { timeOf } from './query.js'
import { QueueState } from '../fold/queue-state.js'
import { isTakeable } from '../limits/section.js'
import type { ClaimShape } from '../ready/claim-shape.js'
import { headsOf } from '../ready/group-tasks.js'
import type { Tables } from '../state/tables.js'

/**
 * Keeps the shape of a claim, so that the next claim that asks for the same costs less. The caller may count the claims that wait for it. Fields that
 * the claim leaves out are taken from the registration of its agent. No decision depends on this.
 */
export const keepShape = (state: QueueState, asked: Partial<ClaimRequest> & { readonly max?: number }, at = timeOf(state)): ClaimShape => {
  const tables = QueueState.tablesOf(state)
  return tables.ready.keepShape(takeOver(tables, asked, at))
}

/** The kept shapes that claims wait for and that may have got tasks since the last call. */
export const takeWokenShapes = (state: QueueState): ReadonlyArray<ClaimShape> => QueueState.tablesOf(state).ready.takeWoken()

/** Which of the claims that wait for a shape may find something: all, those of agents that hold a task, or none. */
export const servedOf = (state: QueueState, shape: ClaimShape): 'all' | 'active' | 'none' => {
  const tables = QueueState.tablesOf(state)
  if (!shape.hasWork) return 'none'
  if (!isAtCapacity(tables)) return 'all'
  const { maxConcurrentAgents, overcapLimit, bumpAndStart } = tables.head.settings.capacity
  const hasBumped = bumpAndStart && [...tables.ready.bumped].some(({ group }) => isTakeable(group) && shape.matches(group))
  if (hasBumped) return activeAgents(tables) < maxConcurrentAgents + overcapLimit ? 'all' : 'active'
  return activeAgents(tables) === maxConcurrentAgents ? 'active' : 'none'
}

/** The agents that hold a task. */
export const activeAgentsOf = (state: QueueState): ReadonlyMap<string, unknown> => QueueState.tablesOf(state).leases

/**
 * Must be called for a claim that waits because it found nothing, though there are tasks of its shape. The claim may leave these to other agents, or
 * its agent may hold as many tasks as it registered for. In both cases an event that may change this wakes the shape. Returns the time in
 * milliseconds when it may change without an event; `undefined` for never. No decision depends on this.
 */
export const holdBack = (state: QueueState, request: ClaimRequest, shape: ClaimShape, at: number): number | undefined => {
  const tables = QueueState.tablesOf(state)
  if (tables.agents.size === 0 || isQueueShut(tables)) return undefined
  const { agent } = request
  const { left } = scan(tables, request, 1, at)
  if (left.length === 0 && roomOf(tables, agent, at) > 0) return undefined
  tables.ready.holdBack(shape)
  return Math.min(tables.agents.nextEnd(at) ?? Number.POSITIVE_INFINITY, ...left.map((task) => getsAgainAt(tables, task, agent, at)))
}

/** Why a claim finds nothing although matching tasks are ready; `undefined` if there are none, or if it would find some. */
export const whyNothing = (state: QueueState, request: ClaimRequest, at = timeOf(state)): Reason | undefined => {
  const tables = QueueState.tablesOf(state)
  const now = Math.max(at, tables.head.at)
  const asker = takeOver(tables, request, now)
  const shape = tables.ready.shapeOf(asker)
  if (!shape.hasWork) {
    const held = whyHeldBack(tables, shape, asker, now)
    return held === undefined ? undefined : (reasonOfClaim({ tables, at: now, asker }) ?? held)
  }
  const { picked, isCut, left, hasBarred } = scan(tables, request, 1, now)
  if (picked.length > 0 && !isQueueShut(tables)) return undefined
  const shut = reasonOfClaim({ tables, at: now, asker })
  if (shut !== undefined) return shut
  if (isCut) return { code: 'too-many-barred', ...tooManyPassed(tables) }
  const [first] = left
  if (first !== undefined) return { code: 'failed-here-lately', ...failedHere({ tables, task: first, at: now, asker }) }
  return hasBarred ? { code: 'agents-barred', ...barredFromAll(request.agent) } : undefined
}

/** How many groups are looked at for the reason. There may be a million, and an agent that finds nothing asks again and again. */
const looksMax = 100

/** Why none of the ready tasks that match may start: a gate of their type, or their limits. Of several reasons the one that ends first. */
const whyHeldBack = (tables: Tables, shape: ClaimShape, asker: Asker, at: number): Reason | undefined => {
  let first: Reason | undefined
  let looks = 0
  for (const group of tables.ready.candidates(asker)) {
    if (++looks > looksMax) break
    const [task] = shape.matches(group) ? headsOf(group) : none
    const reason = task === undefined ? undefined : reasonOfGroup({ tables, task, at, asker })
    if (reason !== undefined && (first === undefined || endOf(reason) < endOf(first))) first = reason
  }
  return first
}
const none: ReadonlyArray<never> = []

const endOf = ({ until = Number.POSITIVE_INFINITY }: Reason): number => until
