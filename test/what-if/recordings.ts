/** Recordings of simulations: logs of which everything is known. */
import type { QueueEvent, SettingsPatch } from '@daybook/core'
import { generate, type QueueRules, type Scenario, type Workload } from '@daybook/projections/simulate'
import { Recorder, type Recording } from '@daybook/projections/what-if'
import { record } from '../simulate/account.js'
import { from, manyAgents, scenarioOf } from '../simulate/workloads.js'

/** A recording of the events from `begin` on. */
export const recordingOf = (events: ReadonlyArray<QueueEvent>, begin: number, until: number): Recording => {
  const recorder = new Recorder('simulation')
  let hasBegun = false
  for (const event of events) {
    if (!hasBegun && event.at >= begin) {
      recorder.begin(begin)
      hasBegun = true
    }
    recorder.take(event, event.type)
  }
  if (!hasBegun) recorder.begin(begin)
  return recorder.end(until)
}

export const rulesOf = ({ settings = {}, limits = {} }: Scenario, patch: SettingsPatch = {}): QueueRules => ({ patches: [settings, patch], limits })

/** A scenario, what comes and who works in it, and its log. */
export const simulated = (scenario: Scenario, seed: number): { readonly workload: Workload; readonly events: ReadonlyArray<QueueEvent>; readonly rules: QueueRules } => {
  const workload = generate(scenario, seed)
  const rules = rulesOf(scenario)
  return { workload, events: record(workload, rules).events, rules }
}

/** Everything but crashes. */
export const busy = (more: object = {}): Scenario =>
  scenarioOf({
    duration: '5h',
    settings: { ...manyAgents, assignment: { tenants: { a: 2 } }, breakers: { overrides: { mail: { countOn: 'attempt', failureThreshold: 3, halfOpenAfter: 120 } } } },
    limits: { 'type:mail': { concurrency: 3, rate: { starts: 20, perSeconds: 60 } } },
    streams: [
      { type: 'eng', tenant: { a: 1, b: 1, c: 1 }, priority: { HIGH: 1, MEDIUM: 2, '2': 1 }, arrivals: { perHour: 300 }, duration: { p50: '1m', p99: '8m' }, failures: { probability: 0.15, permanent: 0.2 }, deadline: '20m' },
      { name: 'batch', type: 'eng', tenant: 'b', arrivals: { bursts: [{ at: '1h', tasks: 150, over: '5m' }] }, duration: { exponential: '1m' } },
      { type: 'mail', arrivals: { every: '20s' }, duration: '3s', rateLimits: { probability: 0.05, retryAfter: '10s' }, deadline: '10m' },
    ],
    outages: [{ types: ['mail'], from: '2h', to: '2h30m' }],
    agents: [
      { name: 'always', count: 6, types: ['eng'] },
      { name: 'day', count: 4, types: ['eng'], shifts: [{ from: '1h', to: '4h' }] },
      { name: 'mailer', count: 2, concurrency: 2, types: ['ma*'] },
    ],
    ...more,
  })

/** When each task was first claimed. */
export const firstClaims = (events: ReadonlyArray<QueueEvent>): ReadonlyMap<string, number> => {
  const claims = new Map<string, number>()
  for (const { type, at, data } of events) if (type === 'Claimed' && !claims.has(data.task)) claims.set(data.task, at)
  return claims
}

export { from }
