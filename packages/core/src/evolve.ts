/**
 * The fold: what each event does to the state. Total: an event that does not fit the state it meets
 * (only a damaged or foreign log has such) changes nothing but a count, because a fold that throws makes
 * a log unreadable for ever.
 */
import { breakerSettings, patchSettings } from './settings.js'
import type { EventOf, QueueEvent } from './events.js'
import type { Unreadable } from './upcast.js'
import {
  type Breaker,
  type BreakerState,
  failuresAt,
  isHeld,
  type Lease,
  newTaskRecord,
  type Rare,
  noRare,
  noTasks,
  type Tables,
  type TaskRecord,
} from './state.js'
import { isFinal, type Status, type TaskFacts } from './task.js'

/** Evictions per event at most, so that no single event pays for a long silence. */
const evictionsMax = 16

export const apply = (tables: Tables, event: QueueEvent): void => {
  const head = tables.touchHead()
  head.revision++
  if (event.at > head.at) head.at = event.at
  evictFinished(tables)
  applyTo(tables, event)
}

/** An event that cannot be read still takes its place in the log. */
export const applyUnreadable = (tables: Tables, type: string, event: Unreadable): void => {
  const head = tables.touchHead()
  head.revision++
  const key = `${event.why}: ${type}`
  head.unreadable = { ...head.unreadable, [key]: (head.unreadable[key] ?? 0) + 1 }
}

const applyTo = (tables: Tables, event: QueueEvent): void => {
  switch (event.type) {
    case 'TaskEnqueued':
      return enqueued(tables, event.data, event.at, 'pending', 0, noRare, 0)
    case 'TaskImported':
      return imported(tables, event)
    case 'TaskDue':
      return on(tables, event.data.task, isScheduled, (task) => rest(task, 0, tables.head.at))
    case 'Claimed':
      return claimed(tables, event)
    case 'LeaseExtended': {
      const { expiresAt, checkpoint } = event.data
      return onHeld(tables, event.data, (task, lease) => {
        task.lease = { ...lease, expiresAt }
        task.dueAt = expiresAt
        if (checkpoint !== undefined) task.rare = { ...task.rare, checkpointRevision: tables.head.revision }
      })
    }
    case 'Released':
      return endAttempt(tables, event.data, 'released', 0, noRare)
    case 'ClaimExpired': {
      const { cause, signature } = event.data
      return endAttempt(tables, event.data, cause, 1, { lastError: expiryMessage[cause], signature })
    }
    case 'Failed': {
      const { error, signature, checkpoint } = event.data
      const said = { lastError: error.message.slice(0, lastErrorMax), signature }
      return endAttempt(
        tables,
        event.data,
        'failed',
        1,
        checkpoint === undefined ? said : { ...said, checkpointRevision: tables.head.revision },
      )
    }
    case 'RetryScheduled':
      return on(tables, event.data.task, isPending, (task) => {
        task.status = 'scheduled'
        task.dueAt = event.data.availableAt
      })
    case 'MarkedIncomplete':
      return onHeld(tables, event.data, (task) => {
        task.status = 'incomplete'
      })
    case 'Completed':
      return completed(tables, event)
    case 'DeadLettered':
      return deadLettered(tables, event)
    case 'Requeued':
      return on(tables, event.data.task, isDead, (task) => {
        task.retries = 0
        task.attempts = 0
        const { claimants: _, deadLetter: __, ...kept } = task.rare
        task.rare = kept
        rest(task, 0, event.at)
      })
    case 'Discarded':
      return finish(tables, event.data.task, 'discarded', event.at)
    case 'Cancelled':
      return finish(tables, event.data.task, 'cancelled', event.at)
    case 'BreakerOpened':
    case 'BreakerHalfOpened':
    case 'BreakerClosed':
      return breakerMoved(tables, event)
    case 'AgentTerminated':
      return
    case 'QueueConfigured': {
      const head = tables.head
      head.settings = patchSettings(head.settings, event.data.patch)
      return
    }
    case 'QueuePaused':
      tables.head.paused = event.data.reason
      return
    case 'QueueResumed':
      tables.head.paused = null
      return
  }
}

const lastErrorMax = 1_000
export const expiryMessage = {
  'lease-expired': 'lease expired without a heartbeat',
  'report-missing': 'decision report missing',
  'agent-terminated': 'agent terminated',
} as const

const isScheduled = (status: Status): boolean => status === 'scheduled'
const isPending = (status: Status): boolean => status === 'pending'
const isDead = (status: Status): boolean => status === 'dead-letter'
const isUnfinished = (status: Status): boolean => !isFinal(status)

const on = (tables: Tables, id: string, fits: (status: Status) => boolean, change: (task: TaskRecord) => void): void => {
  const task = tables.byId.get(id)
  if (task === undefined || !fits(task.status)) {
    tables.head.misfits++
    return
  }
  tables.update(task, (record) => {
    record.lastRevision = tables.head.revision
    change(record)
  })
}

const onHeld = (
  tables: Tables,
  held: { readonly task: string; readonly token: number },
  change: (task: TaskRecord, lease: Lease) => void,
): void => {
  const task = tables.byId.get(held.task)
  const lease = task?.lease
  if (task === undefined || !lease || !isHeld(task) || lease.token !== held.token) {
    tables.head.misfits++
    return
  }
  tables.update(task, (record) => {
    record.lastRevision = tables.head.revision
    change(record, lease)
  })
}

/** The status of a task that nobody holds: waiting for others, for a time, or ready. */
const rest = (task: TaskRecord, availableAt: number, at: number): void => {
  task.dueAt = 0
  if (task.missing > 0) task.status = 'blocked'
  else if (availableAt > at) {
    task.status = 'scheduled'
    task.dueAt = availableAt
  } else task.status = 'pending'
}

const enqueued = (
  tables: Tables,
  facts: TaskFacts,
  createdAt: number,
  status: Status,
  retries: number,
  history: Rare,
  finishedAt: number,
): void => {
  const { head } = tables
  // Each number was used up by an event, so none can be beyond their count.
  if (tables.byId.has(facts.task) || facts.number <= head.lastNumber || facts.number > head.revision + 1) {
    head.misfits++
    return
  }
  head.lastNumber = facts.number
  const dependencies = facts.dependencies ?? noIds
  let missing = 0
  for (const id of dependencies) {
    const dependency = tables.byId.get(id)
    if (dependency !== undefined && dependency.status !== 'completed') missing++
  }
  const task = newTaskRecord({
    number: facts.number,
    id: facts.task,
    key: facts.idempotencyKey,
    group: tables.group(facts.type, facts.phase, facts.skills ?? noIds, facts.tenant),
    priority: facts.priority,
    timeout: facts.timeout,
    maxRetries: facts.maxRetries,
    backoffSeconds: facts.backoffSeconds,
    enqueuedAt: createdAt,
    enqueuedRevision: head.revision,
    dependencies,
    status,
    retries,
    missing: isFinal(status) ? 0 : missing,
    dueAt: 0,
    finishedAt,
    rare: rareOf(facts, history),
  })
  if (status === 'pending') rest(task, facts.availableAt ?? 0, head.at)
  tables.insert(task)
  if (missing > 0 && !isFinal(status)) {
    for (const id of dependencies) {
      const dependency = tables.byId.get(id)
      if (dependency !== undefined && dependency.status !== 'completed') tables.addDependent(dependency, task)
    }
  }
}
const noIds: ReadonlyArray<string> = []

const rareOf = (facts: TaskFacts, history: Rare): Rare => {
  const { deadlineAt, ticketId, parentTaskId, availableAt } = facts
  if (
    deadlineAt === undefined &&
    ticketId === undefined &&
    parentTaskId === undefined &&
    availableAt === undefined
  ) {
    return history
  }
  return {
    ...history,
    ...(deadlineAt === undefined ? {} : { deadlineAt }),
    ...(ticketId === undefined ? {} : { ticketId }),
    ...(parentTaskId === undefined ? {} : { parentTaskId }),
    ...(availableAt === undefined ? {} : { availableAt }),
  }
}

const imported = (tables: Tables, event: EventOf<'TaskImported'>): void => {
  const { status, createdAt, finishedAt, retries, lastError } = event.data
  const history: Rare = {
    ...(lastError === undefined ? {} : { lastError: lastError.slice(0, lastErrorMax) }),
    ...(status === 'dead-letter' ? { deadLetter: { at: event.at, reason: 'imported' } as const } : {}),
  }
  // Retention runs from the import: what was just taken in should be there to be seen.
  const finished = isFinal(status) ? Math.max(finishedAt ?? event.at, event.at) : 0
  enqueued(tables, event.data, createdAt, status, retries, history, finished)
}

const claimed = (tables: Tables, event: EventOf<'Claimed'>): void => {
  const { task: id, agent, token, expiresAt, probe } = event.data
  const task = tables.byId.get(id)
  if (task === undefined || task.status !== 'pending') {
    tables.head.misfits++
    return
  }
  const breaker = tables.breakers.get(task.group.type)
  const { head } = tables
  head.lastToken = Math.max(head.lastToken, token)
  tables.update(task, (record) => {
    record.lastRevision = head.revision
    record.status = 'in-progress'
    record.lease = {
      agent,
      token,
      claimedAt: event.at,
      expiresAt,
      epoch: breaker?.epoch ?? 0,
      probe: probe === true,
      end: null,
    }
    record.dueAt = expiresAt
  })
  if (probe === true) tables.updateBreaker(tables.breaker(task.group.type), (b) => (b.probe = task))
}

/** A claim ended without success: an attempt, and a retry unless the agent gave the task back (INV-3). */
const endAttempt = (
  tables: Tables,
  held: { readonly task: string; readonly agent: string; readonly token: number },
  end: NonNullable<Lease['end']>,
  retries: 0 | 1,
  said: Rare,
): void =>
  onHeld(tables, held, (task, lease) => {
    task.lease = { ...lease, end }
    task.attempts++
    task.retries += retries
    if (end === 'released') {
      task.rare = { ...task.rare, claimants: [...(task.rare.claimants ?? []), held.agent] }
    } else task.rare = { ...task.rare, ...said }
    rest(task, 0, tables.head.at)
    freeProbe(tables, task)
    if (retries === 1 && countsAttempts(tables, task)) countFailure(tables, task, lease)
  })

/** Whatever ended the test task's claim, its place in the half-open breaker is free again (LK-15). */
const freeProbe = (tables: Tables, task: TaskRecord): void => {
  const breaker = tables.breakers.get(task.group.type)
  if (breaker?.probe === task) tables.updateBreaker(breaker, (b) => (b.probe = null))
}

const countsAttempts = (tables: Tables, task: TaskRecord): boolean =>
  breakerSettings(tables.head.settings, task.group.type).countOn === 'attempt'

/** One more failure on a closed breaker, if the claim was made since it last opened. */
const countFailure = (tables: Tables, task: TaskRecord, lease: Lease): void => {
  const { head } = tables
  const breaker = tables.breaker(task.group.type)
  if (breaker.state !== 'closed' || lease.epoch !== breaker.epoch) return
  const failures = failuresAt(breaker, breakerSettings(head.settings, breaker.type), head.at) + 1
  tables.updateBreaker(breaker, (b) => {
    b.failures = failures
    b.lastFailure = head.at
  })
}

const completed = (tables: Tables, event: EventOf<'Completed'>): void =>
  onHeld(tables, event.data, (task, lease) => {
    task.status = 'completed'
    task.finishedAt = event.at
    task.dueAt = 0
    const { dependents } = task
    if (dependents.length > 0) {
      task.dependents = noTasks
      for (const dependent of dependents) {
        if (isFinal(dependent.status)) continue
        tables.update(dependent, (waiting) => {
          waiting.missing--
          if (waiting.status === 'blocked') rest(waiting, waiting.rare.availableAt ?? 0, event.at)
        })
      }
    }
    const breaker = tables.breakers.get(task.group.type)
    if (breaker !== undefined) succeeded(tables, breaker, task, lease)
  })

const succeeded = (tables: Tables, breaker: Breaker, task: TaskRecord, lease: Lease): void => {
  const resets = breaker.state === 'closed' && lease.epoch === breaker.epoch && breaker.failures > 0
  if (!resets && breaker.probe !== task) return
  tables.updateBreaker(breaker, (b) => {
    if (resets) b.failures = 0
    if (b.probe === task) b.probe = null
  })
}

const deadLettered = (tables: Tables, event: EventOf<'DeadLettered'>): void => {
  const { task: id, reason } = event.data
  on(tables, id, isPending, (task) => {
    task.status = 'dead-letter'
    task.dueAt = 0
    task.rare = { ...task.rare, deadLetter: { at: event.at, reason } }
    if (task.lease !== null && !countsAttempts(tables, task)) countFailure(tables, task, task.lease)
  })
}

const finish = (tables: Tables, id: string, status: 'discarded' | 'cancelled', at: number): void =>
  on(tables, id, status === 'discarded' ? isDead : isUnfinished, (task) => {
    if (isHeld(task) && task.lease !== null) {
      task.lease = { ...task.lease, end: 'cancelled' }
      freeProbe(tables, task)
    }
    task.status = status
    task.finishedAt = at
    task.dueAt = 0
    task.dependents = noTasks
  })

type BreakerMove = EventOf<'BreakerOpened'> | EventOf<'BreakerHalfOpened'> | EventOf<'BreakerClosed'>

/** The edges of a breaker (LK-13, LK-15); an operator may open it at any time, and close it unless it is closed. */
const isLegalMove = (from: BreakerState, event: BreakerMove): boolean => {
  if (event.type === 'BreakerHalfOpened') return from === 'open'
  switch (event.data.cause) {
    case 'threshold':
      return from === 'closed'
    case 'probe-failed':
    case 'probe-succeeded':
      return from === 'half-open'
    case 'manual':
      return event.type === 'BreakerOpened' || from !== 'closed'
  }
}

const breakerMoved = (tables: Tables, event: BreakerMove): void => {
  const type = event.data.taskType
  if (!isLegalMove(tables.breakers.get(type)?.state ?? 'closed', event)) {
    tables.head.misfits++
    return
  }
  const { halfOpenAfter } = breakerSettings(tables.head.settings, type)
  tables.updateBreaker(tables.breaker(type), (breaker) => {
    breaker.probe = null
    switch (event.type) {
      case 'BreakerOpened':
        breaker.state = 'open'
        breaker.openedAt = event.at
        breaker.halfOpenAt = event.data.cause === 'manual' ? 0 : event.at + Math.ceil(halfOpenAfter * 1_000)
        breaker.epoch++
        breaker.reason = event.data.reason ?? event.data.cause
        return
      case 'BreakerHalfOpened':
        breaker.state = 'half-open'
        breaker.halfOpenAt = event.at
        return
      case 'BreakerClosed':
        breaker.state = 'closed'
        breaker.failures = 0
        breaker.halfOpenAt = 0
        breaker.reason = event.data.reason ?? event.data.cause
        return
    }
  })
}

const evictFinished = (tables: Tables): void => {
  const { head, finished } = tables
  const horizon = head.at - head.settings.retentionSeconds * 1_000
  for (let n = 0; n < evictionsMax; n++) {
    const oldest = finished.first()
    if (oldest === undefined || oldest.finishedAt > horizon) return
    tables.evict(oldest)
  }
}
