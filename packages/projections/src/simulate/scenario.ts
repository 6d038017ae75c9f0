/** A scenario: the description of a queue, its tasks and its agents for a simulation. Times count from the beginning of the simulation. */
import { between, Concurrency, integer, LimitKey, Name, Phase, Priority, PriorityName, Rate, SettingsPatch, TaskType, TypePattern } from '@daybook/core'
import * as t from 'io-ts'
import { PositiveSpan, Span } from './span.js'

const part = <P extends t.Props, O extends t.Props>(name: string, needed: P, optional: O) =>
  t.intersection([t.type(needed), t.partial(optional)], name)

const PerHour = between(0, 1_000_000)
const Weight = between(0, 1_000_000)

const Burst = t.exact(t.type({ at: Span, tasks: integer(1, 1_000_000), over: Span }), 'burst')

/** How tasks arrive. All given members add up. */
const Arrivals = t.exact(
  t.partial({
    /** Independent arrivals (a Poisson process): the average number per hour, or 24 numbers for the hours of the day. */
    perHour: t.union([PerHour, t.readonlyArray(PerHour)]),
    /** Regular arrivals: the time between two. */
    every: PositiveSpan,
    /** Arrivals at random within `over`, beginning at `at`. */
    bursts: t.readonlyArray(Burst),
  }),
  'arrivals',
)

/** How long an attempt takes: a constant, or exponential with this mean, or lognormal with these percentiles. */
const Duration = t.union([PositiveSpan, t.exact(t.partial({ exponential: PositiveSpan, p50: PositiveSpan, p99: PositiveSpan }))], 'duration')

const Stream = part(
  'stream',
  { type: TaskType, arrivals: Arrivals, duration: Duration },
  {
    /** Default: the type. */
    name: Name,
    tenant: t.union([Name, t.record(Name, Weight)]),
    priority: t.union([Priority, PriorityName, t.record(t.string, Weight)]),
    phase: Phase,
    skills: t.readonlyArray(Name),
    /** Counted from the arrival. */
    deadline: PositiveSpan,
    /** The probability that an attempt fails. `permanent`: the share of failures after which the task is not retried. */
    failures: part('failures', { probability: between(0, 1) }, { permanent: between(0, 1) }),
    rateLimits: part('rate limits', { probability: between(0, 1) }, { retryAfter: PositiveSpan }),
  },
)
export type Stream = t.TypeOf<typeof Stream>

const Pool = part(
  'agents',
  { name: Name, count: integer(1, 10_000) },
  {
    /** The number of tasks that one agent works on at a time. */
    concurrency: integer(1, 1_000),
    types: t.readonlyArray(TypePattern),
    phases: t.readonlyArray(Phase),
    skills: t.readonlyArray(Name),
    /** Times of the day. Default: the whole day. */
    shifts: t.readonlyArray(t.exact(t.type({ from: Span, to: PositiveSpan }), 'shift')),
    /** The mean number of crashes in a day's work of one agent. */
    crashesPerDay: between(0, 1_000),
    /** The time from a crash until the agent works again. */
    restart: PositiveSpan,
    /** The length of its leases without a heartbeat. */
    lease: PositiveSpan,
  },
)
export type Pool = t.TypeOf<typeof Pool>

/** Every attempt at tasks of these types that begins in this time fails. */
const Outage = part('outage', { types: t.readonlyArray(TypePattern), from: Span, to: PositiveSpan }, { failsAfter: PositiveSpan })
export type Outage = t.TypeOf<typeof Outage>

export const Scenario = part(
  'scenario',
  { streams: t.readonlyArray(Stream), agents: t.readonlyArray(Pool) },
  {
    name: Name,
    seed: integer(0, 2 ** 32 - 1),
    duration: PositiveSpan,
    settings: SettingsPatch,
    limits: t.record(LimitKey, t.exact(t.partial({ concurrency: Concurrency, rate: Rate }), 'limit')),
    outages: t.readonlyArray(Outage),
  },
)
export type Scenario = t.TypeOf<typeof Scenario>

export const durationDefault = '24h'
export const seedDefault = 1
export const restartDefault = '1m'
export const leaseDefault = '1m'
export const failsAfterDefault = '2s'
export const retryAfterDefault = '30s'
