/**
 * The policies that are compared. All of them run through the same core, with the same tasks, durations, failures, agents and crashes.
 *
 * - `settings`: the scenario's settings.
 * - `fifo`: first come, first served. All tasks have the same priority and no tenant.
 * - `strict`: by priority, and first come, first served within a priority. No protection against starvation, and no tenants.
 *
 * In the last two, retries and long waits do not raise the score, deadlines have no effect, and limits of tenants do not hold.
 */
import { priorityDefault, type SettingsPatch } from '@daybook/core'
import type { QueueRules } from './run.js'
import type { Arrival, Workload } from './workload.js'

export const policies = ['settings', 'fifo', 'strict'] as const
export type Policy = (typeof policies)[number]

/** Ten years, the largest value of the setting. */
const never = 10 * 365 * 86_400
const byPriorityAlone: SettingsPatch = {
  policy: 'priority',
  score: { age: 0, deadline: 0, blockers: 0, retries: 0, starvationLimit: never },
}

/** The workload and the rules of a policy. */
export const under = (policy: Policy, workload: Workload, rules: QueueRules): { readonly workload: Workload; readonly rules: QueueRules } => {
  if (policy === 'settings') return { workload, rules }
  return {
    workload: { ...workload, arrivals: workload.arrivals.map((arrival) => plain(arrival, policy === 'fifo' ? priorityDefault : arrival.priority)) },
    rules: {
      patches: [...rules.patches, byPriorityAlone],
      limits: Object.fromEntries(Object.entries(rules.limits).filter(([key]) => !key.startsWith('tenant:'))),
    },
  }
}

const plain = (arrival: Arrival, priority: number): Arrival => {
  const { at, type, phase, skills } = arrival
  return {
    at,
    type,
    priority,
    ...(phase === undefined ? {} : { phase }),
    ...(skills === undefined ? {} : { skills }),
    outcome: (attempt, startedAt) => arrival.outcome(attempt, startedAt),
  }
}
