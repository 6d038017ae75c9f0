/** The reasons of a task in answers. */
import type { Reason, ReasonCode, Remedy } from '@daybook/core'
import type { Tenants } from '../routes/tenants.js'
import { isoOf } from '../../iso-time.js'

/** Reasons whose words are about the task, about things of the same tenant, or about the asking agent. All others may reveal something about other tenants. */
const ofTask: ReadonlySet<ReasonCode> = new Set<ReasonCode>([
  'ready', 'held', 'finished', 'dead-letter', 'blocked', 'ordering', 'scheduled', 'waiting', 'type-not-claimed', 'phase-not-claimed', 'tenant-not-claimed',
  'skills-required', 'agent-sleeps', 'agent-full', 'agents-barred',
])

/** Left out for tenants: it says which tenants come first. */
const ofOthers: ReasonCode = 'tenant-turn'

/** Reasons with times in ISO 8601, and with the requests that would change them. `tenants`: those of the caller's token. */
export const shownReasons = (reasons: ReadonlyArray<Reason>, tenants?: Tenants): ReadonlyArray<object> =>
  (tenants === undefined ? reasons : reasons.filter(({ code }) => code !== ofOthers).map(forTenants)).map(({ until, remedy, ...reason }) => ({
    ...reason,
    ...(remedy === undefined ? {} : { change: `${reason.change}: ${requestsOf(remedy)}` }),
    ...(until === undefined ? {} : { until: isoOf(until) }),
  }))

const requestsOf = (remedy: Remedy): string =>
  'callback' in remedy ? `POST …/callbacks/${encodeURIComponent(remedy.callback)}` : remedy.limits.map((key) => `PUT …/limits/${encodeURIComponent(key)}`).join(' and ')

const forTenants = (reason: Reason): Reason =>
  ofTask.has(reason.code) ? reason : { code: reason.code, message: 'it waits for something that the tenants of this queue share', change: 'time, or whoever runs the queue' }
