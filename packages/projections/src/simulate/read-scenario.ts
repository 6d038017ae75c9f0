/** Checks a scenario: each field, and which fields belong together. */
import { type FieldError, limitsMax, PriorityName, validate } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import { durationDefault, type Pool, Scenario, type Stream } from './scenario.js'
import { msOf } from './span.js'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** A simulation keeps all its tasks in memory, so their number is bounded. */
export const tasksMax = 1_000_000
const daysMax = 31
const agentsMax = 10_000
/** How often agents begin their work, all together: each time is kept in memory as well. */
const beginningsMax = 1_000_000

export const readScenario = (input: unknown): E.Either<ReadonlyArray<FieldError>, Scenario> => {
  const checked = validate(Scenario)(input)
  if (E.isLeft(checked)) return checked
  const errors = [...mistakes(checked.right)]
  return errors.length > 0 ? E.left(errors) : checked
}

function* mistakes(scenario: Scenario): Generator<FieldError, void> {
  const { streams, agents, limits = {}, outages = [], duration = durationDefault } = scenario
  const durationMs = msOf(duration)
  if (durationMs > daysMax * dayMs) yield { path: 'duration', message: `must be at most ${daysMax}d` }
  if (streams.length === 0) yield { path: 'streams', message: 'must not be empty' }
  if (agents.length === 0) yield { path: 'agents', message: 'must not be empty' }
  for (const [i, stream] of streams.entries()) yield* ofStream(stream, `streams[${i}]`)
  yield* repeated(streams.map(nameOf), 'streams')
  yield* repeated(agents.map(({ name }) => name), 'agents')
  for (const [i, { shifts, crashesPerDay, restart }] of agents.entries()) {
    if (shifts?.length === 0) yield { path: `agents[${i}].shifts`, message: 'must not be empty: without it they work the whole day' }
    for (const [j, { from, to }] of (shifts ?? []).entries()) {
      const path = `agents[${i}].shifts[${j}]`
      if (msOf(to) > dayMs) yield { path: `${path}.to`, message: 'must be at most 24h: a shift over midnight is two shifts' }
      if (msOf(to) <= msOf(from)) yield { path: `${path}.to`, message: `must be after ${from}` }
    }
    if (restart !== undefined && crashesPerDay === undefined) yield { path: `agents[${i}].restart`, message: 'needs crashesPerDay: without it no agent crashes' }
  }
  if (agents.reduce((sum, { count }) => sum + count, 0) > agentsMax) yield { path: 'agents', message: `must be at most ${agentsMax} together` }
  if (Object.keys(limits).length > limitsMax) yield { path: 'limits', message: `must be at most ${limitsMax}` }
  for (const [key, { concurrency, rate }] of Object.entries(limits)) if (concurrency === undefined && rate === undefined) yield { path: `limits.${key}`, message: 'must have concurrency or rate' }
  const beginnings = agents.reduce((sum, pool) => sum + expectedBeginnings(pool, durationMs), 0)
  if (beginnings > beginningsMax) yield { path: 'agents', message: `would begin their work about ${Math.round(beginnings)} times, after crashes and with their shifts; a simulation takes at most ${beginningsMax}` }
  for (const [i, { from, to }] of outages.entries()) if (msOf(to) <= msOf(from)) yield { path: `outages[${i}].to`, message: `must be after ${from}` }
  const tasks = streams.reduce((sum, stream) => sum + expectedTasks(stream, durationMs), 0)
  if (tasks > tasksMax) yield { path: 'streams', message: `would bring about ${Math.round(tasks)} tasks; a simulation takes at most ${tasksMax}` }
}

function* ofStream({ arrivals, duration, priority, tenant }: Stream, path: string): Generator<FieldError, void> {
  const { perHour, every, bursts } = arrivals
  if (perHour === undefined && every === undefined && bursts === undefined) yield { path: `${path}.arrivals`, message: 'must have perHour, every or bursts' }
  if (typeof perHour === 'object' && perHour.length !== 24) yield { path: `${path}.arrivals.perHour`, message: `must be one number, or 24 for the hours of the day, not ${perHour.length}` }
  if (typeof duration === 'object') {
    const { exponential, p50, p99 } = duration
    const isLognormal = p50 !== undefined && p99 !== undefined && exponential === undefined
    if (!isLognormal && (exponential === undefined || p50 !== undefined || p99 !== undefined)) yield { path: `${path}.duration`, message: 'must be a length of time, or have either exponential (the mean), or p50 and p99' }
    else if (isLognormal && msOf(p99) <= msOf(p50)) yield { path: `${path}.duration.p99`, message: `must be more than p50 (${p50})` }
  }
  if (typeof priority === 'object') {
    for (const name of Object.keys(priority)) if (!/^([1-9]|10)$/.test(name) && !PriorityName.is(name)) yield { path: `${path}.priority.${name}`, message: 'is no priority: 1 to 10, CRITICAL, HIGH, MEDIUM or LOW' }
    if (isWeightless(priority)) yield { path: `${path}.priority`, message: 'must have a weight above zero' }
  }
  if (typeof tenant === 'object' && isWeightless(tenant)) yield { path: `${path}.tenant`, message: 'must have a weight above zero' }
}

const isWeightless = (weights: Readonly<Record<string, number>>): boolean => !Object.values(weights).some((weight) => weight > 0)

export const nameOf = ({ name, type }: Stream): string => name ?? type

function* repeated(names: ReadonlyArray<string>, list: string): Generator<FieldError, void> {
  for (const [i, name] of names.entries()) {
    const first = names.indexOf(name)
    if (first < i) yield { path: `${list}[${i}].name`, message: `is ${JSON.stringify(name)}, as that of ${list}[${first}]: give it another` }
  }
}

/** The mean number of tasks that arrive in this time. */
const expectedTasks = ({ arrivals: { perHour = 0, every, bursts = [] } }: Stream, durationMs: number): number => {
  const rateIn = (hour: number): number => (typeof perHour === 'number' ? perHour : (perHour[hour % 24] ?? 0))
  const hours = Array.from({ length: Math.ceil(Math.min(durationMs, daysMax * dayMs) / hourMs) }, (_, hour) => rateIn(hour) * Math.min(1, durationMs / hourMs - hour))
  const regular = every === undefined ? 0 : durationMs / msOf(every)
  return hours.reduce((sum, tasks) => sum + tasks, 0) + regular + bursts.reduce((sum, { at, tasks, over }) => sum + tasks * shareUntil(durationMs, msOf(at), msOf(over)), 0)
}

/** The share of a time of this length that is over at `end`. */
const shareUntil = (end: number, begin: number, length: number): number => (begin >= end ? 0 : length === 0 ? 1 : Math.min(1, (end - begin) / length))

/** How often the agents of a pool begin to work: with each shift, and after each crash. */
const expectedBeginnings = ({ count, shifts, crashesPerDay = 0 }: Pool, durationMs: number): number => {
  const days = durationMs / dayMs
  const share = shifts === undefined ? 1 : Math.min(1, shifts.reduce((sum, { from, to }) => sum + Math.max(0, msOf(to) - msOf(from)), 0) / dayMs)
  return count * ((shifts === undefined ? 1 : shifts.length * Math.ceil(days)) + crashesPerDay * share * days)
}
