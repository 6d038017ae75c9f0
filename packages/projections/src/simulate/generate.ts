/** Draws the workload of a scenario. */
import { matchesType, PriorityName, priorityDefault, priorityOf } from '@daybook/core'
import { choose, exponential, keyOf, lognormal, type Random, randomOf } from './random.js'
import { nameOf } from './read-scenario.js'
import {
  durationDefault,
  failsAfterDefault,
  leaseDefault,
  type Outage,
  type Pool,
  restartDefault,
  retryAfterDefault,
  type Scenario,
  seedDefault,
  type Stream,
} from './scenario.js'
import { msOf } from './span.js'
import type { Agent, Arrival, Outcome, Period, Workload } from './workload.js'

/** After this time a service reports that its rate limit is reached. */
const rateLimitMs = 1_000
const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** A Monday, when every simulation begins. */
const beginning = Date.UTC(2026, 0, 5)

export const generate = (scenario: Scenario, seed = scenario.seed ?? seedDefault): Workload => {
  const { streams, agents, outages = [], duration = durationDefault } = scenario
  const [from, until] = [beginning, beginning + msOf(duration)]
  const arrivals = streams.flatMap((stream) => [...arrivalsOf(stream, outages, seed, until)])
  return {
    from,
    until,
    // The sort is stable, so tasks of the same millisecond stay in the order of their streams.
    arrivals: arrivals.sort((a, b) => a.at - b.at),
    pools: agents.map(({ name, types, phases, skills }) => ({
      name,
      claim: { ...(types === undefined ? {} : { types }), ...(phases === undefined ? {} : { phases }), ...(skills === undefined ? {} : { skills }) },
    })),
    agents: agents.flatMap((pool, index) => agentsOf(pool, index, seed, until)),
  }
}

// -------------------------------------------------------------------------------------------- tasks

/** Parts of random keys: what a number is drawn for. */
const drawn = { times: 1, regular: 2, bursts: 3, task: 16 } as const

/** What all tasks of a stream share, with spans parsed and choices listed. */
interface Drawing {
  readonly stream: Stream
  readonly seed: number
  readonly key: number
  readonly priority: (random: Random) => string | number
  readonly tenant: ((random: Random) => string) | undefined
  readonly runMs: (random: Random) => number
  readonly retryAfterSeconds: number
  readonly outages: ReadonlyArray<{ readonly from: number; readonly to: number; readonly failsAfterMs: number }>
}

function* arrivalsOf(stream: Stream, outages: ReadonlyArray<Outage>, seed: number, until: number): Generator<Arrival, void> {
  const key = keyOf(nameOf(stream))
  const { priority = priorityDefault, tenant } = stream
  const drawing: Drawing = {
    stream,
    seed,
    key,
    priority: typeof priority === 'object' ? drawnFrom(priority) : () => priority,
    tenant: typeof tenant === 'object' ? drawnFrom(tenant) : tenant === undefined ? undefined : () => tenant,
    runMs: drawnDuration(stream.duration),
    retryAfterSeconds: msOf(stream.rateLimits?.retryAfter ?? retryAfterDefault) / 1_000,
    outages: outages
      .filter(({ types }) => types.some((pattern) => matchesType(pattern, stream.type)))
      .map(({ from, to, failsAfter = failsAfterDefault }) => ({ from: beginning + msOf(from), to: beginning + msOf(to), failsAfterMs: msOf(failsAfter) })),
  }
  let index = 0
  for (const at of timesOf(stream, seed, key, until)) yield new DrawnTask(drawing, at, index++)
}

/** One of several, by weight. They are listed once: there may be thousands of tenants. */
const drawnFrom = (weights: Readonly<Record<string, number>>): ((random: Random) => string) => {
  const choices = Object.entries(weights)
  return (random) => choose(random, choices)
}

function* timesOf({ arrivals: { perHour, every, bursts = [] } }: Stream, seed: number, key: number, until: number): Generator<number, void> {
  if (perHour !== undefined) yield* poissonTimes(typeof perHour === 'number' ? () => perHour : (hour) => perHour[hour % 24] ?? 0, randomOf(seed, key, 0, drawn.times), until)
  if (every !== undefined) for (let at = beginning; at < until; at += msOf(every)) yield at
  for (const [i, { at, tasks, over }] of bursts.entries()) {
    const random = randomOf(seed, key, i, drawn.bursts)
    for (let n = 0; n < tasks; n++) {
      const time = beginning + msOf(at) + Math.floor(random() * msOf(over))
      if (time < until) yield time
    }
  }
}

/** Within an hour the rate is constant. The process has no memory, so each hour can start anew. */
function* poissonTimes(rateOf: (hour: number) => number, random: Random, until: number): Generator<number, void> {
  for (let hour = 0; beginning + hour * hourMs < until; hour++) {
    const rate = rateOf(hour)
    if (rate <= 0) continue
    const end = Math.min(until, beginning + (hour + 1) * hourMs)
    for (let at = beginning + hour * hourMs + exponential(random, hourMs / rate); at < end; at += exponential(random, hourMs / rate)) yield Math.floor(at)
  }
}

class DrawnTask implements Arrival {
  readonly type: string
  readonly priority: number
  readonly tenant?: string
  readonly phase?: NonNullable<Stream['phase']>
  readonly skills?: ReadonlyArray<string>
  readonly deadlineAt?: number

  constructor(
    private readonly drawing: Drawing,
    readonly at: number,
    private readonly index: number,
  ) {
    const { stream: { type, phase, skills, deadline }, priority, tenant, seed, key } = drawing
    const random = randomOf(seed, key, index, drawn.task)
    this.type = type
    this.priority = priorityNumber(priority(random))
    if (tenant !== undefined) this.tenant = tenant(random)
    if (phase !== undefined) this.phase = phase
    if (skills !== undefined) this.skills = skills
    if (deadline !== undefined) this.deadlineAt = at + msOf(deadline)
  }

  outcome(attempt: number, startedAt: number): Outcome {
    const { stream: { failures, rateLimits }, outages, seed, key, retryAfterSeconds } = this.drawing
    const random = randomOf(seed, key, this.index, drawn.task + attempt)
    // All numbers are drawn whatever the outcome is, so that those of the next attempt do not depend on when it began.
    const [jitter, luck, limitLuck, permanence] = [random(), random(), random(), random()]
    const runMs = Math.max(1, Math.round(this.drawing.runMs(random)))
    const outage = outages.find(({ from, to }) => startedAt >= from && startedAt < to)
    if (outage !== undefined) return { runMs: outage.failsAfterMs, result: 'failed', random: jitter }
    if (rateLimits !== undefined && limitLuck < rateLimits.probability) {
      return { runMs: rateLimitMs, result: 'rate-limited', retryAfterSeconds, random: jitter }
    }
    if (failures === undefined || luck >= failures.probability) return { runMs, result: 'completed', random: jitter }
    return { runMs, result: permanence < (failures.permanent ?? 0) ? 'failed-for-good' : 'failed', random: jitter }
  }
}

const priorityNumber = (priority: string | number): number => (PriorityName.is(priority) ? priorityOf[priority] : Number(priority))

const drawnDuration = (duration: Stream['duration']): Drawing['runMs'] => {
  if (typeof duration !== 'object') {
    const always = msOf(duration)
    return () => always
  }
  const { exponential: mean, p50 = 0, p99 = 0 } = duration
  const [meanMs, p50Ms, p99Ms] = [msOf(mean ?? 0), msOf(p50), msOf(p99)]
  return mean === undefined ? (random) => lognormal(random, p50Ms, p99Ms) : (random) => exponential(random, meanMs)
}

// ------------------------------------------------------------------------------------------- agents

const agentsOf = (pool: Pool, index: number, seed: number, until: number): ReadonlyArray<Agent> => {
  const { name, count, concurrency = 1, lease = leaseDefault } = pool
  const shifts = [...shiftsOf(pool, until)]
  return Array.from({ length: count }, (_, i) => ({
    name: `${name}-${i + 1}`,
    pool: index,
    concurrency,
    leaseMs: msOf(lease),
    periods: [...periodsOf(shifts, pool, randomOf(seed, keyOf(name), i, 0))],
  }))
}

/** Shifts without a gap between them, as over midnight, are one. */
function* shiftsOf({ shifts }: Pool, until: number): Generator<Pick<Period, 'from' | 'to'>, void> {
  if (shifts === undefined) return yield { from: beginning, to: until }
  const daily = shifts.map(({ from, to }) => ({ from: msOf(from), to: msOf(to) })).sort((a, b) => a.from - b.from)
  let last: { from: number; to: number } | undefined
  for (let day = beginning; day < until; day += dayMs) {
    for (const { from, to } of daily) {
      const next = { from: day + from, to: Math.min(until, day + to) }
      if (next.from >= until) break
      if (last !== undefined && next.from <= last.to) last.to = Math.max(last.to, next.to)
      else {
        if (last !== undefined) yield last
        last = next
      }
    }
  }
  if (last !== undefined) yield last
}

function* periodsOf(shifts: Iterable<Pick<Period, 'from' | 'to'>>, { crashesPerDay = 0, restart = restartDefault }: Pool, random: Random): Generator<Period, void> {
  for (const { from, to } of shifts) {
    let at = from
    while (crashesPerDay > 0) {
      const crash = at + Math.max(1, Math.round(exponential(random, dayMs / crashesPerDay)))
      if (crash >= to) break
      yield { from: at, to: crash, endsBy: 'crash' }
      at = crash + msOf(restart)
      if (at >= to) break
    }
    if (at < to) yield { from: at, to, endsBy: 'shift' }
  }
}
