/**
 * Why a task is not running (EV-10): all reasons, its position among the tasks that can be claimed now, and its score. Position and reasons come from
 * the code that claims use.
 */
import { type Picked, pickTasks } from '../decide/claim.js'
import { findTask } from '../decide/lookup.js'
import { shownStatus } from '../state/capacity.js'
import { roomOf, takeOver } from '../gates/assignment.js'
import { isFullBy, isTestedBy, isToBeUsedUp, roomFilled, tooManyPassed } from '../gates/gate-words.js'
import type { Asker, Question, Reason } from '../gates/reason.js'
import type { Group } from '../records/group.js'
import { nameOf as nameOfLimit } from '../model/limit.js'
import type { Meter } from '../limits/meter.js'
import { Room } from '../limits/room.js'
import { QueueState } from '../fold/queue-state.js'
import { priorityPart, retriesPart, type Score } from '../ready/score.js'
import { ready, reasonsAt } from './reasons.js'
import type { Settings } from '../model/settings.js'
import { isBumped, type TaskRecord, type TenantShare } from '../records/records.js'
import type { Status } from '../model/task.js'

/** Positions up to this one are exact. */
export const positionMax = 10_000

export interface Explanation {
  readonly status: Status
  /** Whether a claim at this instant would get the task, if it takes enough tasks. */
  readonly runnable: boolean
  /** All reasons; `ready` if it is runnable. */
  readonly reasons: ReadonlyArray<Reason>
  /** Its position among the tasks that would be served now: 1 for the next. `null` if it is not runnable, or beyond {@link positionMax}. */
  readonly position: number | null
  /** A lower bound of the position, if that is beyond {@link positionMax}. */
  readonly positionAtLeast?: number
  /** The score of a waiting task; `null` for dead letters, held and finished tasks. */
  readonly score: number | null
  readonly scoreParts: ScoreParts | null
}

export interface ScorePart {
  /** From 0 to 1. */
  readonly value: number
  readonly weight: number
  /** `value` times `weight`. */
  readonly points: number
}

/** The parts of a score: the sum of the points times the boost, or the floor if that is more. */
export interface ScoreParts {
  readonly priority: ScorePart
  readonly age: ScorePart
  readonly deadline: ScorePart
  readonly blockers: ScorePart
  readonly retries: ScorePart
  /** 1 before the urgency window of its deadline. */
  readonly boost: number
  /** Whether it has waited longer than the starvation limit. With policy `priority`, starved tasks are served before all others. */
  readonly isStarved: boolean
  /** The least score of a starved task with policy `score`; otherwise `null`. */
  readonly floor: number | null
}

/**
 * Explains a task at this time; `undefined` if it is unknown. By id, or by number as `#42`. With `asker`: for that claim; fields that it leaves out
 * are taken from the registration of its agent. Otherwise: for an agent that asks for everything, has all skills and is barred from nothing.
 *
 * Cost: that of a claim of as many tasks as come before it, 10,000 at most. For the first question without `asker`, and for one whose claim nobody has
 * made lately: O(groups with ready tasks) as well. While the order of ready tasks is put aside, as after a load: O(ready tasks).
 */
export const explainOf = (state: QueueState, id: string, at: number, asker?: Asker): Explanation | undefined => {
  const tables = QueueState.tablesOf(state)
  // As in a decision: time never runs backward.
  const now = Math.max(at, tables.head.at)
  const task = findTask(tables, id, now)
  if (task === undefined) return undefined
  const { policy } = tables.head.settings
  const question = { tables, task, at: now, asker: asker === undefined ? undefined : takeOver(tables, asker, now) }
  return { status: shownStatus(tables, task.status), ...inLine(question), ...scoreOf(tables.ready.policy.score, policy, task, now) }
}

// -------------------------------------------------------------------------------- reasons and position

const inLine = (question: Question): Pick<Explanation, 'runnable' | 'reasons' | 'position' | 'positionAtLeast'> => {
  const { tables, task, at, asker } = question
  const { shut, notes } = reasonsAt(question)
  if (shut.length > 0) return { runnable: false, reasons: [...shut, ...notes], position: null }
  const served = pickTasks(tables, asker, positionMax, at, task)
  const isServed = served[served.length - 1]?.task === task
  const others = notes.filter(({ code }) => code !== 'breaker-half-open')
  const held = isServed ? undefined : heldBackBy(question, served)
  if (held !== undefined) return { runnable: false, reasons: [held, ...others], position: null }
  const reasons = [ready(task), ...(isBumped(task) ? [] : tenantTurn(question)), ...testing(question), ...others]
  return isServed
    ? { runnable: true, reasons, position: served.length }
    : { runnable: true, reasons, position: null, positionAtLeast: positionMax + 1 }
}

/** Why a claim that begins with these tasks never gets to a task whose gates are all open. `undefined` if it gets to it later. */
const heldBackBy = ({ tables, at, asker, task: { group } }: Question, served: ReadonlyArray<Picked>): Reason | undefined => {
  const { type } = group
  const probe = served.find((picked) => picked.probe && picked.task.group.type === type)
  if (probe !== undefined) return { code: 'breaker-half-open', ...isTestedBy(type, `${probe.task.id} comes first and will test it`) }
  const limit = limitedBy(group, served, at)
  if (limit !== undefined) return limit
  if (served.length >= positionMax) return undefined
  const agent = asker?.agent
  if (agent !== undefined && served.length >= roomOf(tables, agent, at)) return { code: 'agent-full', ...roomFilled(agent, served.length) }
  return { code: 'too-many-barred', ...tooManyPassed(tables) }
}

/** The reason if tasks that are served before this one use up a limit. */
const limitedBy = (group: Group, served: ReadonlyArray<Picked>, at: number): Reason | undefined => {
  if (group.meters.length === 0) return undefined
  const room = new Room(at)
  for (const { task } of served) room.take(task.group)
  const meter = room.usedUp(group)
  if (meter === undefined) return undefined
  const { code, words } = isFullAfter(meter, served) ? { code: 'concurrency-limit' as const, words: isFullBy([meter]) } : { code: 'rate-limit' as const, words: isToBeUsedUp(meter) }
  return { code, ...words, message: `tasks that come first use up what ${nameOfLimit(meter.key)} may have: ${words.message}` }
}
const isFullAfter = (meter: Meter, served: ReadonlyArray<Picked>): boolean => {
  const { live, limit } = meter
  return limit?.concurrency !== undefined && live + served.filter(({ task }) => task.group.meters.includes(meter)).length >= limit.concurrency
}

const testing = ({ tables, task: { group: { type } } }: Question): ReadonlyArray<Reason> =>
  tables.breakers.get(type)?.state === 'half-open' ? [{ code: 'breaker-half-open', ...isTestedBy(type, 'it will test it') }] : []

/** The tenants that are served before the task's own. */
const tenantTurn = ({ tables, task, asker }: Question): ReadonlyArray<Reason> => {
  const before: Array<string> = []
  let count = 0
  const walk = tables.ready.shapeOf(asker).walk()
  for (let last: TenantShare | undefined; walk.item !== undefined && walk.item.share !== task.group.share; walk.advance()) {
    const { share } = walk.item
    // A tenant may have several entries, one after the other.
    if (share !== last && ++count <= namedMax) before.push(nameOf(share.name))
    last = share
  }
  if (count === 0) return []
  const others = count > namedMax ? ` and ${count - namedMax} more` : ''
  const own = nameOf(task.group.tenant)
  return [{
    code: 'tenant-turn',
    message: `tenants take turns, and before ${own} comes ${before.join(', ')}${others}`,
    change: `leases to these tenants; with more weight for ${own} in assignment.tenants its turns come more often`,
  }]
}
const namedMax = 3
const nameOf = (tenant = 'no tenant'): string => tenant

// ---------------------------------------------------------------------------------------------- score

const scoreOf = (score: Score, policy: Settings['policy'], task: TaskRecord, at: number): Pick<Explanation, 'score' | 'scoreParts'> => {
  if (!scored.includes(task.status)) return { score: null, scoreParts: null }
  const { settings, unit } = score
  const isStarved = score.isStarved(task, at)
  const hasFloor = isStarved && policy === 'score'
  return {
    score: rounded((hasFloor ? score.floored(task, at) : score.of(task, at)) / unit),
    scoreParts: {
      priority: part(priorityPart(task.priority), settings.priority),
      age: part(score.agePart(task, at), settings.age),
      deadline: part(score.deadlinePart(task, at), settings.deadline),
      blockers: part(score.blockersPart(task), settings.blockers),
      retries: part(retriesPart(task), settings.retries),
      boost: score.isBoosted(task, at) ? score.boost : 1,
      isStarved,
      floor: hasFloor ? settings.starvationFloor : null,
    },
  }
}
const scored: ReadonlyArray<Status> = ['pending', 'queued', 'scheduled', 'waiting', 'blocked']
const part = (value: number, weight: number): ScorePart => ({ value: rounded(value), weight, points: rounded(value * weight) })
/** Rounded to a millionth. */
const rounded = (value: number): number => Math.round(value * 1e6) / 1e6
