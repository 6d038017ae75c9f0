/** The reports of an agent that holds a task: heartbeat, completion, failure, release. */
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import type { Decider } from './decision.js'
import { runEndsAt } from './run-time.js'
import type { QueueEvent } from '../model/events.js'
import { toInstant } from '../model/scalars.js'
import { failureSignature } from '../text/signature.js'
import { Draft } from './draft.js'
import { claimOf, findTask, heldBy } from './lookup.js'
import { decideRateLimit } from './rate-limit.js'
import { spawnEvents } from './spawn.js'

export const decideHeartbeat: Decider<'Heartbeat'> = (command, tables, { at }) =>
  pipe(
    heldBy(tables, command, at),
    E.map(({ task, lease }) => {
      const { progress, checkpoint } = command
      const expiresAt = Math.max(lease.expiresAt, Math.min(runEndsAt(task, lease), toInstant(at + lease.durationMs)))
      const data = { ...claimOf(task, lease), expiresAt, ...(progress === undefined ? {} : { progress }), ...(checkpoint === undefined ? {} : { checkpoint }) }
      return [{ type: 'LeaseExtended', at, data }]
    }),
  )

export const decideComplete: Decider<'Complete'> = (command, tables, { at }) => {
  const holding = heldBy(tables, command, at)
  if (E.isLeft(holding)) {
    // A repetition of a report whose answer was lost.
    const known = findTask(tables, command.task, at)
    const isKnown = known?.status === 'completed' && known.lease?.token === command.token && known.lease.agent === command.agent
    return isKnown ? E.right([]) : holding
  }
  const { task, lease } = holding.right
  const data = claimOf(task, lease)
  const { content } = command
  if (tables.head.settings.decisionReport === 'required' && !command.hasReport) {
    return E.right([{ type: 'MarkedIncomplete', at, data, content }])
  }
  const events: Array<QueueEvent> = command.found === undefined ? [] : [...spawnEvents(tables, task, lease.token, command.found, at)]
  events.push({ type: 'Completed', at, data, content })
  const breaker = tables.breakers.get(task.group.type)
  if (breaker?.state === 'half-open' && breaker.probe === task) {
    events.push({ type: 'BreakerClosed', at, data: { taskType: breaker.type, cause: 'probe-succeeded' } })
  }
  return E.right(events)
}

export const decideFail: Decider<'Fail'> = (command, tables, envelope) =>
  pipe(
    heldBy(tables, command, envelope.at),
    E.map(({ task, lease }) => {
      const limited = decideRateLimit(command, tables, envelope, task, lease)
      if (limited !== undefined) return limited
      const draft = new Draft(tables, envelope)
      const { error, retryable, checkpoint } = command
      const signature = failureSignature(task.group.type, task.group.phase, error.message)
      draft.emit({ type: 'Failed', at: envelope.at, data: { ...claimOf(task, lease), error, retryable, signature, ...(checkpoint === undefined ? {} : { checkpoint }) } })
      draft.afterFailure(task, lease, retryable, true, error.message)
      return draft.events
    }),
  )

export const decideRelease: Decider<'Release'> = (command, tables, envelope) =>
  pipe(
    heldBy(tables, command, envelope.at),
    E.map(({ task, lease }) => {
      const draft = new Draft(tables, envelope)
      const { at } = envelope
      const { reason, undelivered, stopping } = command
      const data = { ...claimOf(task, lease), reason }
      if (undelivered === true) draft.emit({ type: 'Released', at, data: { ...data, undelivered } })
      else if (stopping === true) draft.emit({ type: 'ClaimReturned', at, data })
      else {
        draft.emit({ type: 'Released', at, data })
        if (task.attempts + 1 >= tables.head.settings.maxAttempts) draft.deadLetterAfterRelease(task, lease)
      }
      return draft.events
    }),
  )
