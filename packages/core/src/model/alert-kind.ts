/** What alerts may be about. `state/alerts.ts` says when each is raised. */
import { oneOf } from './scalars.js'

export const alertKinds = ['critical-waiting', 'starvation', 'dead-letters', 'attempts-exhausted', 'breaker-open', 'retry-spike'] as const
export type AlertKind = (typeof alertKinds)[number]
export const AlertKind = oneOf(alertKinds, 'alert kind')
