/** What-if: a model of a log with the recorded settings gives the log back, and with others what a simulation with those gives. */
import type { SettingsPatch } from '@daybook/core'
import { figuresOf } from '@daybook/projections/simulate'
import { whatIf } from '@daybook/projections/what-if'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runSeed } from '../support/seed.js'
import { busy, from, recordingOf, rulesOf, simulated } from './recordings.js'

const hour = 3_600_000
const seeds = fc.integer({ min: 0, max: 1_000_000 })
const few = { numRuns: 6, seed: runSeed }

describe('EV-06: what-if', () => {
  // The last one is soon after agents went home who still finish what they have.
  test.each([0, 1.3, 2.2, 4.02])('the model of a simulated log is that log, to the millisecond, also of a period that begins after %d hours', (hours) => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const { workload, events } = simulated(busy(), seed)
        const { figures } = whatIf(recordingOf(events, from + hours * hour, workload.until))
        expect(figures.model).toEqual(figures.recorded)
        expect(figures.recorded.all.waits.max).toBeGreaterThan(60)
      }),
      { ...few, numRuns: 3 },
    )
  })

  test('the recorded figures are those of the simulation that wrote the log', () => {
    const { workload, events, rules } = simulated(busy(), runSeed)
    const { figures: { recorded } } = whatIf(recordingOf(events, from, workload.until))
    const { pools, series, fairness, utilisation, ...expected } = figuresOf(workload, rules)
    expect(recorded).toMatchObject(expected)
    expect(recorded.series.waitingByTenant).toEqual(series.waitingByTenant)
    expect(recorded.utilisation).toBeCloseTo(utilisation ?? 0, 3)
    // Those who ask for the same are one pool in a log.
    expect([pools.length, recorded.pools.length]).toEqual([3, 2])
    expect(fairness.jain).toBeCloseTo(recorded.fairness.jain ?? 0, 9)
  })

  const patches = fc.constantFrom<SettingsPatch>(
    { policy: 'score' }, { assignment: { tenants: { b: 5 } } }, { capacity: { maxConcurrentAgents: 4 } }, { policy: 'priority', score: { starvationLimit: 600 } },
    { breakers: { overrides: { mail: { failureThreshold: 50 } } } }, { score: { age: 0, deadline: 1, slaUrgencyWindow: 600 } },
  )
  test('with other settings it is a simulation of the same tasks with those settings', () => {
    // Everything ends in the period, so that each attempt is recorded. How an attempt goes depends on when it begins in an outage, and how many tasks an agent
    // could have had at a time shows only if it had them: there are no outages, and each has one.
    const agents = [{ name: 'all', count: 5, types: ['eng'] }, { name: 'mailer', count: 3, types: ['ma*'] }]
    const scenario = busy({ agents, outages: [], duration: '3h', streams: [
      { type: 'eng', tenant: { a: 1, b: 1, c: 1 }, priority: { HIGH: 1, MEDIUM: 2, '2': 1 }, arrivals: { bursts: [{ at: '0s', tasks: 150, over: '30m' }] }, duration: { p50: '1m', p99: '6m' }, failures: { probability: 0.15, permanent: 0.2 }, deadline: '20m' },
      { type: 'mail', arrivals: { bursts: [{ at: '0s', tasks: 60, over: '30m' }] }, duration: '3s', rateLimits: { probability: 0.05, retryAfter: '10s' }, deadline: '10m' },
    ] })
    fc.assert(
      fc.property(seeds, patches, (seed, patch) => {
        const { workload, events } = simulated(scenario, seed)
        const { figures: { changed }, notes } = whatIf(recordingOf(events, from, workload.until), { patch })
        const expected = figuresOf(workload, rulesOf(scenario, patch))
        expect(notes).toEqual([])
        expect({ ...changed, pools: [], series: changed.series.waitingByTenant, utilisation: 0 }).toEqual({ ...expected, pools: [], series: expected.series.waitingByTenant, utilisation: 0 })
      }),
      { ...few, numRuns: 12 },
    )
  })

  test('crashes leave no word: leases end when they did, and on most days the mean wait is within 5 % of the recorded one', () => {
    const scenario = busy({ agents: [{ name: 'all', count: 12, crashesPerDay: 8, restart: '3m' }] })
    const errors = Array.from({ length: 12 }, (_, seed) => {
      const { workload, events } = simulated(scenario, seed + 1)
      const { figures: { recorded, model } } = whatIf(recordingOf(events, from, workload.until))
      expect(recorded.attempts.leasesExpired).toBeGreaterThan(5)
      expect(model.attempts.leasesExpired).toBe(recorded.attempts.leasesExpired)
      return Math.abs(model.all.waits.mean / recorded.all.waits.mean - 1)
    })
    // One task that another agent takes may change a whole busy day: one day of 24 was off by a third.
    expect(errors.filter((error) => error < 0.05).length).toBeGreaterThan(6)
  })

  test('a tenant may be named like what every object has', () => {
    const scenario = busy({ streams: [{ type: 'eng', tenant: { constructor: 1, b: 1 }, arrivals: { perHour: 600 }, duration: '3m' }] })
    const { workload, events, rules } = simulated(scenario, 1)
    for (const { fairness: { tenants } } of [whatIf(recordingOf(events, from, workload.until)).figures.recorded, figuresOf(workload, rules)]) {
      expect(tenants.map(({ tenant, weight }) => [tenant, weight])).toEqual([['b', 1], ['constructor', 1]])
      for (const { due } of tenants) expect(due).toBeGreaterThan(0)
    }
  })
})
