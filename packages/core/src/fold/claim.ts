/** The events of a claim, from its beginning to its end. */
import { withFailure } from '../gates/assignment.js'
import type { EventOf } from '../model/events.js'
import { expiryMessage, keptError } from '../model/last-error.js'
import { isBumped, type Lease, type LeaseEnd, noExtras, noTasks, type TaskExtras, type TaskRecord } from '../records/records.js'
import type { Tables } from '../state/tables.js'
import { isFinal } from '../model/task.js'
import { countFailedAttempt } from './alerts.js'
import { makeRoom } from './limit.js'
import { countFailure, countsAttempts, freeProbe, succeeded } from './breaker.js'
import { misfit, onHeld, rest } from './change.js'

export const claimed = (tables: Tables, event: EventOf<'Claimed'>): void => {
  const { task: id, agent, token, expiresAt, probe } = event.data
  const task = tables.byId.get(id)
  if (task === undefined || task.status !== 'pending') return misfit(tables)
  const breaker = tables.breakers.get(task.group.type)
  const { head } = tables
  head.lastToken = Math.max(head.lastToken, token)
  const lease: Lease = {
    agent,
    token,
    claimedAt: event.at,
    expiresAt,
    durationMs: expiresAt - event.at,
    epoch: breaker?.epoch ?? 0,
    probe: probe === true,
    end: null,
  }
  const hold = (record: TaskRecord): void => {
    record.status = 'in-progress'
    record.lease = lease
    // A new attempt has no progress yet, but keeps the checkpoint.
    if (record.extras.progressRevision !== undefined) {
      const { progressRevision: _, ...kept } = record.extras
      record.extras = kept
    }
  }
  tables.update(task, hold, head.revision)
  if (task.group.meters.length > 0) tables.limits.started(task.group, event.at)
  // The lease of a bumped task is charged to no tenant.
  if (!isBumped(task)) tables.shares.charge(task.group, head.settings.assignment.tenants)
  if (probe === true) tables.breakers.update(tables.breakers.of(task.group.type), (b) => (b.probe = task))
}

export const leaseExtended = (tables: Tables, event: EventOf<'LeaseExtended'>): void => {
  const { expiresAt, checkpoint, progress } = event.data
  const { revision } = tables.head
  onHeld(tables, event.data, (task) => {
    task.lease = { ...task.lease, expiresAt }
    if (checkpoint !== undefined) task.extras = { ...task.extras, checkpointRevision: revision }
    if (progress !== undefined) task.extras = { ...task.extras, progressRevision: revision }
  })
}

export const markedIncomplete = (tables: Tables, event: EventOf<'MarkedIncomplete'>): void =>
  onHeld(tables, event.data, (task) => {
    task.status = 'incomplete'
  })

export const released = (tables: Tables, event: EventOf<'Released'>): void => {
  const { task, agent, undelivered } = event.data
  if (undelivered === true) return endClaim(tables, event.data, 'released', 0, 0, noExtras)
  const barred = tables.byId.get(task)?.extras.claimants ?? []
  endClaim(tables, event.data, 'released', 1, 0, { claimants: [...barred, agent] })
}

export const claimReturned = (tables: Tables, event: EventOf<'ClaimReturned'>): void =>
  endClaim(tables, event.data, 'released', 0, 0, noExtras)

export const claimExpired = (tables: Tables, event: EventOf<'ClaimExpired'>): void => {
  const { cause, signature } = event.data
  endClaim(tables, event.data, cause, 1, 1, { lastError: expiryMessage[cause], signature })
}

export const claimRevoked = (tables: Tables, event: EventOf<'ClaimRevoked'>): void =>
  endClaim(tables, event.data, 'agent-terminated', 0, 0, noExtras)

export const failed = (tables: Tables, event: EventOf<'Failed'>): void => {
  const { error, signature, checkpoint } = event.data
  const said = { lastError: keptError(error.message), signature }
  endClaim(
    tables,
    event.data,
    'failed',
    1,
    1,
    checkpoint === undefined ? said : { ...said, checkpointRevision: tables.head.revision },
  )
}

/**
 * Ends a claim without success. It counts as an attempt if the agent tried or refused the task, and as a retry if it failed (INV-3). It counts as
 * neither if the agent never received the claim, met a rate limit, was stopping, or was terminated by an operator.
 */
export const endClaim = (
  tables: Tables,
  held: { readonly task: string; readonly agent: string; readonly token: number },
  end: LeaseEnd,
  attempts: 0 | 1,
  retries: 0 | 1,
  said: TaskExtras,
  availableAt = 0,
): void =>
  onHeld(tables, held, (task) => {
    const { lease } = task
    task.lease = { ...lease, end }
    task.attempts += attempts
    task.retries += retries
    // An attempt uses up a bump. If the agent never began, or an operator ended the claim, the task is still first.
    const { bumpedAt, ...extras } = task.extras
    task.extras = {
      ...extras,
      ...said,
      ...(attempts === 1 || bumpedAt === undefined ? {} : { bumpedAt }),
      ...(retries === 1 ? { failers: withFailure(extras.failers, lease.agent, tables.head.at) } : {}),
    }
    rest(task, availableAt, tables.head.at)
    freeProbe(tables, task)
    if (retries === 0) return
    countFailedAttempt(tables, task)
    if (countsAttempts(tables, task)) countFailure(tables, task, lease)
  })

export const completed = (tables: Tables, event: EventOf<'Completed'>): void =>
  onHeld(tables, event.data, (task) => {
    task.status = 'completed'
    task.finishedAt = event.at
    const { dependents, lease } = task
    if (dependents.length > 0) {
      task.dependents = noTasks
      task.blocking = 0
      for (const dependent of dependents) {
        if (isFinal(dependent.status)) continue
        tables.update(dependent, (waiting) => {
          waiting.missing--
          if (waiting.status === 'blocked') rest(waiting, waiting.extras.availableAt ?? 0, event.at)
        })
      }
    }
    const breaker = tables.breakers.get(task.group.type)
    if (breaker !== undefined) succeeded(tables, breaker, task, lease)
    // The task is unlinked while it changes, so it is in no line.
    makeRoom(tables, task, event.at)
  })
