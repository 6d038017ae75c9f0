/** Random histories: any events in any order, more than a real queue would write. */
import type { QueueEvent, Unreadable } from '@daybook/core'
import type { EventMeta, EventSource, LoggedEvent } from '@daybook/projections'
import fc from 'fast-check'
import { Subject } from 'rxjs'

const task = fc.constantFrom('a', 'b', 'c', 'd', '__proto__')
const type = fc.constantFrom('eng-backend', 'eng-frontend', 'ops')
const agent = fc.constantFrom('agent-1', 'agent-2')
const text = fc.constantFrom('because', '')
const held = { task, agent, token: fc.integer({ min: 1, max: 9 }) }
const facts = {
  task, type, number: fc.integer({ min: 1, max: 9 }), priority: fc.integer({ min: 1, max: 10 }), idempotencyKey: fc.constant('k'),
  timeout: fc.constant(60), maxRetries: fc.constant(3), backoffSeconds: fc.constant(1),
}

const shapes: Record<string, Record<string, fc.Arbitrary<unknown>>> = {
  TaskEnqueued: facts,
  TaskImported: { ...facts, status: fc.constantFrom('completed', 'cancelled', 'dead-letter'), createdAt: fc.constant(0), retries: fc.constant(0) },
  TaskDue: { task },
  Claimed: { ...held, expiresAt: fc.constant(0) },
  Released: { ...held, reason: text },
  ClaimReturned: { ...held, reason: text },
  ClaimRevoked: { ...held, reason: text },
  ClaimExpired: { ...held, cause: fc.constant('lease-expired'), signature: fc.constant('s') },
  Failed: { ...held, error: fc.constant({ message: 'no' }), retryable: fc.boolean(), signature: fc.constant('s') },
  RetryScheduled: { task, availableAt: fc.constant(0) },
  MarkedIncomplete: held,
  Completed: held,
  DeadLettered: { task, reason: fc.constant('retries-exhausted') },
  Requeued: { task, reviewer: agent, reason: text },
  Discarded: { task, reviewer: agent, reason: text },
  Cancelled: { task, reason: text },
  BreakerOpened: { taskType: type, cause: fc.constantFrom('threshold', 'manual') },
  BreakerHalfOpened: { taskType: type },
  BreakerClosed: { taskType: type, cause: fc.constantFrom('probe-succeeded', 'manual') },
  QueuePaused: { reason: text },
  QueueDeleted: { reason: text },
}

const event = fc.constantFrom(...Object.keys(shapes)).chain((name) => fc.record({ type: fc.constant(name), data: fc.record(shapes[name] ?? {}) }))

/** An event as a projection sees it. */
export const logged = (event: QueueEvent, revision = 0, meta: EventMeta = {}, content?: string): LoggedEvent => ({ revision, id: `id-${revision}`, event, meta, content: () => content })

const meta = fc.record({ actor: agent, correlationId: text, causationId: text }, { requiredKeys: [] })
const content = fc.option(fc.constantFrom('{"payload":1,"description":"mow the lawn"}', 'null'), { nil: undefined })

/** A random history. Its times do not go back (INV-14). */
export const history: fc.Arbitrary<ReadonlyArray<LoggedEvent>> = fc
  .array(fc.tuple(fc.nat(5_000), event, meta, content), { maxLength: 60 })
  .map((steps) => {
    let at = 1_000
    return steps.map(([pause, made, by, text], i) => logged({ ...made, at: (at += pause) } as QueueEvent, i, by, text))
  })

/** A log in memory that can be appended to and followed. */
export const logOf = (first: ReadonlyArray<LoggedEvent> = [], pageSize = 7) => {
  const events: Array<LoggedEvent | Unreadable> = [...first]
  const grown = new Subject<number>()
  const reads: Array<number> = []
  const source: EventSource = {
    head: async () => events.length - 1,
    read: async function* (from) {
      reads.push(from)
      for (let at = from; at < events.length; at += pageSize) {
        await Promise.resolve()
        yield { from: at, events: events.slice(at, at + pageSize) }
      }
    },
    grown,
  }
  const append = (...more: ReadonlyArray<LoggedEvent | Unreadable>): void => {
    events.push(...more)
    grown.next(events.length - 1)
  }
  return { source, append, reads, grown, events }
}
