// A projection of your own: how long agents worked for each tenant, by month, for an invoice.
//   npm install
//   daybook project --module run-time-by-tenant.mjs --once --json
import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'

/** A map is a list of pairs in JSON. */
const mapOf = (value) =>
  new t.Type(
    'map',
    (u) => u instanceof Map,
    (u, context) => E.map((pairs) => new Map(pairs))(t.array(t.tuple([t.string, value])).validate(u, context)),
    (map) => [...map].map(([key, each]) => [key, value.encode(each)]),
  )

const codec = t.type({
  // By task, while it is not finished: its tenant, and when it was claimed, if somebody has it.
  tasks: mapOf(t.intersection([t.type({ tenant: t.string }), t.partial({ claimedAt: t.number })])),
  // By month and tenant: milliseconds.
  months: mapOf(mapOf(t.number)),
})

/** The events that end a claim. */
const ends = new Set(['Completed', 'Failed', 'RateLimited', 'Released', 'ClaimReturned', 'ClaimExpired', 'ClaimRevoked', 'TaskParked', 'Cancelled'])
/** Those after which nothing happens to the task. */
const finishes = new Set(['Completed', 'Cancelled', 'Discarded'])

const count = (months, { tenant, claimedAt }, at) => {
  const month = new Date(at).toISOString().slice(0, 7)
  const tenants = months.get(month) ?? new Map()
  tenants.set(tenant, (tenants.get(tenant) ?? 0) + at - claimedAt)
  months.set(month, tenants)
}

export default {
  name: 'run-time-by-tenant',
  // Raise it when anything below changes: all is built anew from the log, while the old result still answers.
  version: 1,
  codec,
  initial: () => ({ tasks: new Map(), months: new Map() }),
  fold: (state, { event: { type, at, data } }) => {
    const { tasks, months } = state
    if (type === 'TaskEnqueued') tasks.set(data.task, { tenant: data.tenant ?? '(none)' })
    const task = tasks.get(data.task)
    if (task === undefined) return state
    if (type === 'Claimed') task.claimedAt = at
    if (ends.has(type) && task.claimedAt !== undefined) {
      count(months, task, at)
      delete task.claimedAt
    }
    if (finishes.has(type)) tasks.delete(data.task)
    return state
  },
  // Minutes by month and tenant.
  result: ({ months }) =>
    Object.fromEntries([...months].map(([month, tenants]) => [month, Object.fromEntries([...tenants].map(([tenant, ms]) => [tenant, Math.round(ms / 600) / 100]))])),
}
