/** What alerts may be about. `state/alerts.ts` says when each is raised. */
import * as t from 'io-ts'

export const alertKinds = ['critical-waiting', 'starvation', 'dead-letters', 'attempts-exhausted', 'breaker-open', 'retry-spike'] as const
export type AlertKind = (typeof alertKinds)[number]
export const AlertKind = t.keyof(Object.fromEntries(alertKinds.map((kind) => [kind, null])) as Record<AlertKind, null>, 'alert kind')
