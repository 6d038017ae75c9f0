/**
 * The score of a waiting task (TQM-PRI-002 to TQM-PRI-004), exact at every instant:
 *
 *   score = (wP·P + wA·A + wD·D + wB·B + wR·R) · boost
 *
 *   P  1 for priority 10, 0.75 for 8, 0.5 for 5, 0.25 for 3, 1/12 for 1, linear between
 *   A  age since it was enqueued / ageCeiling, at most 1
 *   D  0 until slaUrgencyWindow before the deadline, then linear to 1 at the deadline and after
 *   B  unfinished tasks that depend on it / blockerCeiling, at most 1
 *   R  1 − retries / maxRetries, at least 0
 *   boost  slaBoost from slaUrgencyWindow before the deadline on, 1 otherwise
 *
 * Scores are counted in whole units, so that sums do not depend on the order of additions: A and D grow by whole units
 * per millisecond. With the default settings, and with most others, these rates are exact. Otherwise they are rounded, which
 * matters only if ageCeiling and slaUrgencyWindow differ by more than a factor of a hundred.
 */
import type { ScoreSettings } from '../model/settings.js'
import type { TaskRecord } from '../records/records.js'

/** Bounds the rates, so that the units of thirty years are exact in a double. */
const ratesMax = 8_192
/** Bounds the sum of the other parts, so that the number of a lane, which has it, is exact as well (`policy.ts`). */
const unitMax = 1e13
/** Weights are counted in steps of 1/10,000. */
const weightSteps = 10_000

const priorityParts: ReadonlyArray<readonly [priority: number, part: number]> = [[1, 1 / 12], [3, 0.25], [5, 0.5], [8, 0.75], [10, 1]]

/** P: linear between the points of TQM-PRI-002. */
export const priorityPart = (priority: number): number => {
  const at = Math.max(1, priorityParts.findIndex(([known]) => known >= priority))
  const [low, lowPart] = priorityParts[at - 1] as readonly [number, number]
  const [high, highPart] = priorityParts[at] as readonly [number, number]
  return lowPart + ((highPart - lowPart) * (priority - low)) / (high - low)
}

export const retriesPart = ({ retries, maxRetries }: Pick<TaskRecord, 'retries' | 'maxRetries'>): number =>
  Math.max(0, 1 - retries / Math.max(1, maxRetries))

/** The fields that a score depends on. */
export type Scored = Pick<TaskRecord, 'priority' | 'retries' | 'maxRetries' | 'blocking' | 'enqueuedAt' | 'extras'>

export class Score {
  /** Number of units in a score of 1. */
  readonly unit: number
  readonly ageMs: number
  readonly windowMs: number
  readonly starvationMs: number
  /** Units per millisecond. */
  readonly ageRate: number
  readonly deadlineRate: number
  readonly boost: number
  /** In units. */
  readonly floor: number
  /** The base of a task that blocks nothing and was never retried, by priority. */
  private readonly plainBase: ReadonlyArray<number>

  constructor(readonly settings: ScoreSettings) {
    const { age, deadline, ageCeiling, slaUrgencyWindow, slaBoost, starvationLimit, starvationFloor } = settings
    this.ageMs = Math.round(ageCeiling * 1_000)
    this.windowMs = Math.round(slaUrgencyWindow * 1_000)
    this.starvationMs = Math.round(starvationLimit * 1_000)
    const wholeRates = leastCommonMultiple(period(age, this.ageMs), period(deadline, this.windowMs))
    // P is a multiple of 1/24, and B of 1/blockerCeiling.
    const wholeParts = [24, settings.blockerCeiling].map((parts) => parts * weightSteps).reduce(leastCommonMultiple, wholeRates)
    this.unit = unitOf(age / this.ageMs + deadline / this.windowMs, [wholeParts, wholeRates])
    this.ageRate = Math.round((age * this.unit) / this.ageMs)
    this.deadlineRate = Math.round((deadline * this.unit) / this.windowMs)
    this.boost = slaBoost
    this.floor = starvationFloor * this.unit
    this.plainBase = Array.from({ length: 11 }, (_, priority) => this.partsOf(priorityPart(Math.max(1, priority)), 0, 1))
  }

  /** The sum of the parts that do not change with time, in units. */
  base(task: Scored): number {
    const { priority } = task
    if (this.hasPlainBase(task)) return this.plainBase[priority] as number
    return this.partsOf(priorityPart(priority), this.blockersPart(task), retriesPart(task))
  }

  /** Whether the task blocks nothing and was never retried. Such tasks of the same priority have the same base. */
  hasPlainBase({ retries, blocking }: Scored): boolean {
    return retries === 0 && blocking === 0
  }

  /** B, from 0 to 1. */
  blockersPart({ blocking }: Scored): number {
    return Math.min(blocking / this.settings.blockerCeiling, 1)
  }

  /** The part of the age, weighted, in units. */
  ageUnits({ enqueuedAt }: Scored, at: number): number {
    return this.agedMs(enqueuedAt, at) * this.ageRate
  }

  /** The part of the deadline, weighted, in units. */
  deadlineUnits({ extras: { deadlineAt } }: Scored, at: number): number {
    return deadlineAt === undefined ? 0 : this.urgentMs(deadlineAt, at) * this.deadlineRate
  }

  /** A, from 0 to 1. */
  agePart({ enqueuedAt }: Scored, at: number): number {
    return this.agedMs(enqueuedAt, at) / this.ageMs
  }

  /** D, from 0 to 1. */
  deadlinePart({ extras: { deadlineAt } }: Scored, at: number): number {
    return deadlineAt === undefined ? 0 : this.urgentMs(deadlineAt, at) / this.windowMs
  }

  isBoosted({ extras: { deadlineAt } }: Scored, at: number): boolean {
    return deadlineAt !== undefined && at >= deadlineAt - this.windowMs
  }

  /** Whether the task has waited longer than the starvation limit (TQM-PRI-004). */
  isStarved({ enqueuedAt }: Scored, at: number): boolean {
    return at - enqueuedAt > this.starvationMs
  }

  /** The score in units, without the floor. */
  of(task: Scored, at: number): number {
    const sum = this.base(task) + this.ageUnits(task, at) + this.deadlineUnits(task, at)
    return this.isBoosted(task, at) ? sum * this.boost : sum
  }

  /** The score in units, with the floor of starved tasks. */
  floored(task: Scored, at: number): number {
    const score = this.of(task, at)
    return score < this.floor && this.isStarved(task, at) ? this.floor : score
  }

  private agedMs(enqueuedAt: number, at: number): number {
    return Math.min(Math.max(0, at - enqueuedAt), this.ageMs)
  }

  private urgentMs(deadlineAt: number, at: number): number {
    return Math.min(Math.max(0, at - (deadlineAt - this.windowMs)), this.windowMs)
  }

  private partsOf(priority: number, blockers: number, retries: number): number {
    const { settings } = this
    return Math.round(this.unit * (settings.priority * priority + settings.blockers * blockers + settings.retries * retries))
  }
}

/** `rates`: their sum at a unit of 1. The unit is a multiple of the first of `wanted` for which the rates stay within their bound. */
const unitOf = (rates: number, wanted: ReadonlyArray<number>): number => {
  const max = Math.min(ratesMax / rates, unitMax)
  const step = wanted.find((one) => one <= max) ?? 1
  return step * Math.floor(max / step)
}

/** The least unit for which weight/ms is whole. */
const period = (weight: number, ms: number): number => {
  const steps = Math.round(weight * weightSteps)
  return steps === 0 ? 1 : (weightSteps * ms) / greatestCommonDivisor(weightSteps * ms, steps)
}

const leastCommonMultiple = (a: number, b: number): number => (a / greatestCommonDivisor(a, b)) * b
const greatestCommonDivisor = (a: number, b: number): number => (b === 0 ? a : greatestCommonDivisor(b, a % b))
