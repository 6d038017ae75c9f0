/** Workloads and scenarios for tests of the simulator. */
import { figuresOf, readScenario, type Arrival, type Scenario, type Workload } from '@daybook/projections/simulate'

export const from = Date.UTC(2026, 0, 5)

export const scenarioOf = (value: object): Scenario => {
  const checked = readScenario(value)
  if (checked._tag === 'Left') throw new Error(checked.left.map(({ path, message }) => `${path} ${message}`).join('\n'))
  return checked.right
}

/** A task that takes so long, each time. */
export const arrival = (atMs: number, runMs: number, more: Partial<Arrival> = {}): Arrival => ({
  at: from + Math.floor(atMs),
  type: 'work',
  priority: 5,
  outcome: () => ({ runMs, result: 'completed', random: 0 }),
  ...more,
})

/** `agents` that are always there and take everything. */
export const workloadOf = (arrivals: ReadonlyArray<Arrival>, agents: number, seconds: number): Workload => {
  const until = from + seconds * 1_000
  return {
    from,
    until,
    arrivals,
    pools: [{ name: 'all', claim: {} }],
    agents: Array.from({ length: agents }, (_, i) => ({ name: `a${i}`, pool: 0, concurrency: 1, leaseMs: 60_000, periods: [{ from, to: until, endsBy: 'shift' }] })),
  }
}

export const manyAgents = { capacity: { maxConcurrentAgents: 1_000 } } as const
export const figures = (workload: Workload, settings: Parameters<typeof figuresOf>[1]['patches'][number] = {}) =>
  figuresOf(workload, { patches: [manyAgents, settings], limits: {} })

/** Everything that a simulation has: failures, rate limits, crashes, an outage, shifts, limits, several tenants. */
export const eventful = (seed: number, hours = 6): Scenario =>
  scenarioOf({
    seed,
    duration: `${hours}h`,
    settings: { ...manyAgents, assignment: { tenants: { a: 2 } }, breakers: { overrides: { mail: { countOn: 'attempt', failureThreshold: 3, halfOpenAfter: 120 } } } },
    limits: { 'type:mail': { concurrency: 3, rate: { starts: 20, perSeconds: 60 } } },
    streams: [
      { type: 'eng', tenant: { a: 1, b: 1, c: 1 }, priority: { HIGH: 1, MEDIUM: 2, '2': 1 }, arrivals: { perHour: 300 }, duration: { p50: '1m', p99: '8m' }, failures: { probability: 0.1, permanent: 0.2 }, deadline: '20m' },
      { name: 'batch', type: 'eng', tenant: 'b', arrivals: { bursts: [{ at: '1h', tasks: 150, over: '5m' }] }, duration: { exponential: '1m' } },
      { type: 'mail', arrivals: { every: '20s' }, duration: '3s', rateLimits: { probability: 0.05, retryAfter: '10s' }, deadline: '10m' },
    ],
    outages: [{ types: ['mail'], from: '2h', to: '2h30m' }],
    agents: [
      { name: 'always', count: 6, types: ['eng'], crashesPerDay: 12, restart: '3m' },
      { name: 'day', count: 4, types: ['eng'], shifts: [{ from: '1h', to: '4h' }] },
      { name: 'mailer', count: 2, concurrency: 2, types: ['ma*'] },
    ],
  })
