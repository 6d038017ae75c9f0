/** Reasons of a task as they are answered. */
import type { Reason, ReasonCode } from '@daybook/core'
import type { Tenants } from './tenants.js'
import { isoOf } from './time.js'

/** Reasons whose words are about the task, what is of the same tenant, and the agent that asks. All others may tell of what tenants share. */
const ofTask: ReadonlySet<ReasonCode> = new Set<ReasonCode>([
  'ready', 'held', 'finished', 'dead-letter', 'blocked', 'ordering', 'scheduled', 'waiting', 'type-not-claimed', 'phase-not-claimed', 'tenant-not-claimed',
  'skills-required', 'agent-sleeps', 'agent-full', 'agents-barred',
])

/** Left out for tenants: whose turn it is before theirs. */
const ofOthers: ReasonCode = 'tenant-turn'

/** With times in ISO 8601. `tenants`: of the token that gets them. */
export const shownReasons = (reasons: ReadonlyArray<Reason>, tenants?: Tenants): ReadonlyArray<object> =>
  (tenants === undefined ? reasons : reasons.filter(({ code }) => code !== ofOthers).map(forTenants)).map(({ until, ...reason }) => (until === undefined ? reason : { ...reason, until: isoOf(until) }))

const forTenants = (reason: Reason): Reason =>
  ofTask.has(reason.code) ? reason : { code: reason.code, message: 'it waits for something that the tenants of this queue share', change: 'time, or whoever runs the queue' }
