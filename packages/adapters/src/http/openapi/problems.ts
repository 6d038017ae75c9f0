/** The problems that a route may answer with: those that follow from its kind, and those that it declares. */
import { type ProblemCode, statusOf } from '../problem.js'
import type { Route } from '../routes/route.js'

export interface Possible {
  readonly status: number
  readonly code: ProblemCode
}

/** Problems of any request, which the HTTP parser or the server itself reports. They are the `default` answer of each route. */
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
  // For a queue that was never used, a name that no queue can have, or a moment that does not exist.
  add(route.of === 'view' || route.of === 'span' || (route.of === 'queue' && route.unused !== 'opened'), 'not-found')
  add(route.of !== 'server', 'overloaded', 'unavailable')
  add(isCommand, 'read-only', 'clock', 'outcome-unknown')
  const possible = [...codes].map((code) => ({ status: statusOf(code), code }))
  // For an `Idempotency-Key` that was used for another request.
  if (route.method === 'POST') possible.push({ status: 422, code: 'conflict' })
  return possible.sort((a, b) => a.status - b.status)
}
