/** Which problems a route may answer with: what follows from its kind, and the refusals of its own that it declares. */
import { type ProblemCode, statusOf } from '../problem.js'
import type { Route } from '../route.js'

export interface Possible {
  readonly status: number
  readonly code: ProblemCode
}

/** Of every request: the HTTP parser, or the server itself. They are the `default` answer of each route. */
export const anywhere: ReadonlyArray<ProblemCode> = ['timeout', 'headers-too-large', 'internal']

/** Without repetitions, by status. */
export const problemsOf = (route: Route): ReadonlyArray<Possible> => {
  const codes = new Set<ProblemCode>(['invalid', 'forbidden', ...(route.refusals ?? [])])
  const add = (condition: boolean, ...more: ReadonlyArray<ProblemCode>): void => {
    if (condition) for (const code of more) codes.add(code)
  }
  const isCommand = route.of === 'queue' && route.method !== 'GET'
  add(route.who !== 'anyone', 'unauthorized', 'too-many-requests', 'unavailable')
  add(route.method !== 'GET', 'too-large', 'unsupported-media-type')
  add(route.method === 'POST', 'conflict')
  // A queue that was never used, a name that no queue can have, a moment that never was.
  add(route.of === 'view' || route.of === 'span' || (route.of === 'queue' && route.unused !== 'opened'), 'not-found')
  add(route.of !== 'server', 'overloaded', 'unavailable')
  add(isCommand, 'read-only', 'clock', 'outcome-unknown')
  const possible = [...codes].map((code) => ({ status: statusOf(code), code }))
  // An `Idempotency-Key` that was used for another request.
  if (route.method === 'POST') possible.push({ status: 422, code: 'conflict' })
  return possible.sort((a, b) => a.status - b.status)
}
