/**
 * A second, naive fold of a queue's events: arrays without indexes, and every question is a scan. It shares no code with the fold, so tests compare
 * the two (INV-11, INV-20).
 */
import { type BreakerSettings, type EventOf, type ExpiryCause, type QueueEvent, settingsDefault } from '@daybook/core'
import { ShadowClaims } from './shadow-claims.js'
import { limitKeysOf } from './shadow-limits.js'
import { patched } from './shadow-settings.js'
import type { ShadowBreaker, ShadowTask } from './shadow-task.js'

const expiryText: Readonly<Record<ExpiryCause, string>> = {
  'lease-expired': 'lease expired without a heartbeat',
  'report-missing': 'decision report missing',
  'agent-terminated': 'agent terminated',
  'ran-too-long': 'the attempt took longer than maxRunSeconds',
}
/** The events that are a sign of life of their agent. */
const words = ['Claimed', 'LeaseExtended', 'MarkedIncomplete', 'Completed', 'Failed', 'RateLimited', 'Released', 'ClaimReturned', 'TaskParked']

export class Shadow extends ShadowClaims {
  static of(events: ReadonlyArray<QueueEvent>): Shadow {
    const shadow = new Shadow()
    for (const event of events) shadow.fold(event)
    return shadow
  }

  fold(event: QueueEvent): void {
    this.revision++
    this.at = Math.max(this.at, event.at)
    this.forgottenUntil = this.forgottenAt(this.at)
    this.gone.push(...this.tasks.filter((task) => !this.isKnown(task, this.at)))
    this.tasks = this.knownAt(this.at)
    const id = 'task' in event.data ? event.data.task : undefined
    const task = id === undefined ? undefined : this.task(id)
    // A task can be erased even after its retention.
    const named = event.type === 'TaskErased' ? (task ?? this.gone.findLast(({ facts }) => facts.task === id)) : task
    if (named !== undefined) named.lastRevision = this.revision
    this.deleted = null
    // A cancelled task is removed before the next task of its line takes its place.
    const waited = this.hasTenants ? this.waitingTenants(event.type === 'Cancelled' ? task : undefined) : undefined
    if (event.type === 'Claimed' && task !== undefined && this.hasTenants && !task.isBumped) this.chargeFor(task)
    this.foldOn(event, task as ShadowTask)
    this.schedules.fold(event, (other) => this.isOver(other))
    this.hear(event)
    if (!this.hasTenants) return
    // A tenant that had nothing ready comes back at the virtual time of the last lease.
    for (const [type, tenants] of this.waitingTenants()) {
      const { turn, turns, leases, lastLeases } = this.pool(type)
      const had = waited?.get(type)
      if (had === undefined || had.size === 0) lastLeases.clear()
      for (const tenant of tenants) {
        if (had?.has(tenant) === true) continue
        const isForgiven = (lastLeases.get(tenant) ?? Number.NEGATIVE_INFINITY) <= leases - 10_000
        turns.set(tenant, isForgiven ? turn : Math.max(turns.get(tenant) ?? 0, turn))
      }
    }
  }

  private chargeFor({ facts: { tenant, type } }: ShadowTask): void {
    for (const pool of [this.pool(), this.pool(type)]) {
      pool.lastLeases.set(tenant, ++pool.leases)
      pool.turn = Math.max(pool.turn, pool.turns.get(tenant) ?? 0)
      pool.turns.set(tenant, pool.turn + this.leaseCost(tenant))
    }
  }

  private hear(event: QueueEvent): void {
    if (!words.includes(event.type)) return
    const { agent } = event.data as { readonly agent: string }
    this.agents = this.agents.map((known) => (known.agent === agent && known.seenAt + known.ttlMs > event.at && event.at - known.seenAt >= known.ttlMs / 64 ? { ...known, seenAt: event.at } : known))
  }

  private foldOn(event: QueueEvent, task: ShadowTask): void {
    switch (event.type) {
      case 'TaskEnqueued':
      case 'TaskImported':
        return this.enter(event)
      case 'TaskAmended': {
        const { priority = task.facts.priority, deadlineAt = task.facts.deadlineAt ?? null, availableAt, formerContentRevision } = event.data
        const status = this.statusOf(task)
        const { deadlineAt: _, ...facts } = task.facts
        task.facts = { ...facts, priority, ...(deadlineAt === null ? {} : { deadlineAt }) }
        if (formerContentRevision !== undefined) task.contentRevision = this.revision
        if (availableAt === undefined) return
        task.facts = { ...task.facts, availableAt: availableAt ?? 0 }
        if (status === 'pending' || status === 'scheduled') task.delayedUntil = availableAt !== null && availableAt > this.at ? availableAt : 0
        return
      }
      case 'TaskDue':
        task.delayedUntil = 0
        return
      case 'RetryScheduled':
        task.delayedUntil = event.data.availableAt
        return
      case 'Claimed': {
        const { agent, token, expiresAt, probe = false } = event.data
        task.stage = 'held'
        task.progressRevision = undefined
        task.lease = { agent, token, expiresAt, probe, at: event.at, epoch: this.breakers.get(task.facts.type)?.epoch ?? 0 }
        if (probe) this.breaker(task.facts.type).probe = task.facts.task
        for (const key of limitKeysOf(task.facts)) this.limits.started(key, event.at)
        return
      }
      case 'LeaseExtended':
        if (task.lease !== null) task.lease.expiresAt = event.data.expiresAt
        if (event.data.checkpoint !== undefined) task.checkpointRevision = this.revision
        if (event.data.progress !== undefined) task.progressRevision = this.revision
        return
      case 'Released':
        if (event.data.undelivered === true) return this.endClaim(task)
        task.barred.push(event.data.agent)
        return this.endAttempt(task)
      case 'ClaimReturned':
      case 'ClaimRevoked':
        return this.endClaim(task)
      case 'ClaimExpired':
        task.retries++
        task.lastError = expiryText[event.data.cause]
        this.failedBy(task, event.data.agent)
        task.signature = event.data.signature
        this.endAttempt(task)
        return this.countFailure(task, 'attempt')
      case 'Failed':
        task.retries++
        task.lastError = event.data.error.message.slice(0, 1_000)
        this.failedBy(task, event.data.agent)
        task.signature = event.data.signature
        if (event.data.checkpoint !== undefined) task.checkpointRevision = this.revision
        this.endAttempt(task)
        return this.countFailure(task, 'attempt')
      case 'RateLimited': {
        const { agent, error, availableAt, count, checkpoint } = event.data
        this.endClaim(task)
        task.delayedUntil = availableAt > this.at ? availableAt : 0
        task.lastError = error.message.slice(0, 1_000)
        task.rateLimits = count
        if (checkpoint !== undefined) task.checkpointRevision = this.revision
        if (availableAt > this.at) this.sleepers.set(agent, Math.max(availableAt, this.sleepers.get(agent) ?? 0))
        return
      }
      case 'SlowdownSignalled':
        this.slowdowns.set(event.data.taskType, Math.max(event.data.until, this.slowdowns.get(event.data.taskType) ?? 0))
        return
      case 'SlowdownEnded':
        this.slowdowns.delete(event.data.taskType)
        return
      case 'AgentResumed':
        this.sleepers.delete(event.data.agent)
        return
      case 'TaskParked': {
        const { callbackKey, until, onTimeout, checkpoint } = event.data
        this.endClaim(task)
        Object.assign(task, { stage: 'parked', parked: { callbackKey, until, onTimeout }, callback: undefined })
        if (checkpoint !== undefined) task.checkpointRevision = this.revision
        return
      }
      case 'CallbackReceived':
        task.stage = 'waiting'
        task.callback = { key: event.data.callbackKey, at: event.at, revision: this.revision }
        return
      case 'ParkTimedOut':
        task.stage = 'waiting'
        if (event.data.onTimeout === 'requeue') return
        task.retries++
        task.attempts++
        task.lastError = 'no callback came in time'
        task.isBumped = false
        task.signature = event.data.signature
        return this.countFailure(task, 'attempt')
      case 'MarkedIncomplete':
        task.stage = 'incomplete'
        return
      case 'Completed':
        return this.complete(task, event.at)
      case 'DeadLettered':
        task.stage = 'dead-letter'
        task.deadLetter = { at: event.at, reason: event.data.reason }
        return this.countFailure(task, 'dead-letter')
      case 'Requeued':
        Object.assign(task, { stage: 'waiting', retries: 0, attempts: 0, barred: [], failers: [], isBumped: false, delayedUntil: 0, rateLimits: undefined, snooze: undefined, escalated: undefined })
        return
      case 'Snoozed':
        task.snooze = { until: event.data.until }
        return
      case 'SnoozeLapsed':
        task.snooze = undefined
        return
      case 'Escalated':
        task.escalated = { at: event.at, reviewer: event.data.reviewer, reason: event.data.reason }
        return
      case 'RedriveStarted':
        this.redrive = { nextAt: event.at }
        return
      case 'RedriveAdvanced':
        if (this.redrive !== undefined) this.redrive.nextAt = event.data.nextAt
        return
      case 'RedriveStopped':
        this.redrive = undefined
        return
      case 'Discarded':
      case 'Cancelled':
        return this.unblocking(event.at, () => {
          this.freeProbe(task)
          task.stage = event.type === 'Discarded' ? 'discarded' : 'cancelled'
          task.finishedAt = event.at
        })
      case 'BreakerOpened':
      case 'BreakerHalfOpened':
      case 'BreakerClosed':
        return this.moveBreaker(event)
      case 'QueueConfigured':
        this.settings = patched(this.settings, event.data.patch)
        return
      case 'QueueDeleted':
        this.gone.push(...this.tasks)
        this.tasks = []
        this.breakers.clear()
        this.agents = []
        this.slowdowns.clear()
        this.sleepers.clear()
        this.redrive = undefined
        this.limits.clear()
        this.settings = settingsDefault
        this.paused = null
        this.deleted = event.data.reason
        return
      case 'QueuePaused':
        this.paused = event.data.reason
        return
      case 'QueueResumed':
        this.paused = null
        return
      case 'TaskBumped':
        task.isBumped = true
        return
      case 'AgentRegistered': {
        const { endsAt, ...agent } = event.data
        this.agents = [...this.agents.filter((known) => known.agent !== agent.agent), { ...agent, ttlMs: endsAt - event.at, seenAt: event.at }]
        return
      }
      case 'LimitSet': {
        const { limit, ...members } = event.data
        return this.limits.change(limit, members, this.at)
      }
      case 'LimitRemoved':
        return this.limits.change(event.data.limit, undefined, this.at)
      case 'LimitOpened':
        this.limits.shut.delete(event.data.limit)
        return
      case 'AgentTerminated':
        this.sleepers.delete(event.data.agent)
        this.agents = this.agents.filter(({ agent }) => agent !== event.data.agent)
        return
      case 'TaskErased':
      case 'ValidationFailed':
      case 'SpawnProposed':
      case 'LoopHalted':
      case 'SpawnApproved':
      case 'SpawnRefused':
      case 'GuardianReleased':
        return
    }
  }

  private enter(event: EventOf<'TaskEnqueued'> | EventOf<'TaskImported'>): void {
    const history = event.type === 'TaskImported' ? event.data : undefined
    const availableAt = event.data.availableAt ?? 0
    if (event.data.tenant !== undefined) this.hasTenants = true
    this.tasks.push({
      facts: event.data,
      createdAt: history?.createdAt ?? event.at,
      enqueuedRevision: this.revision,
      contentRevision: this.revision,
      stage: history?.status ?? 'waiting',
      delayedUntil: history === undefined && availableAt > this.at ? availableAt : 0,
      retries: history?.retries ?? 0,
      attempts: 0,
      lease: null,
      barred: [],
      failers: [],
      isBumped: false,
      finishedAt: history !== undefined && history.status !== 'dead-letter' ? event.at : 0,
      lastRevision: this.revision,
      checkpointRevision: undefined,
      progressRevision: undefined,
      lastError: history?.lastError?.slice(0, 1_000),
      signature: undefined,
      rateLimits: undefined,
      snooze: undefined,
      escalated: undefined,
      parked: undefined,
      callback: undefined,
      deadLetter: history?.status === 'dead-letter' ? { at: event.at, reason: 'imported' } : undefined,
    })
  }

  private failedBy(task: ShadowTask, agent: string): void {
    task.failers = [...task.failers.filter(([other]) => other !== agent), [agent, this.at] as const].slice(-8)
  }

  private endAttempt(task: ShadowTask): void {
    task.isBumped = false
    task.attempts++
    this.endClaim(task)
  }

  private endClaim(task: ShadowTask): void {
    this.freeProbe(task)
    task.stage = 'waiting'
    task.delayedUntil = 0
  }

  private freeProbe(task: ShadowTask): void {
    const breaker = this.breakers.get(task.facts.type)
    if (breaker?.probe === task.facts.task) breaker.probe = null
  }

  private complete(task: ShadowTask, at: number): void {
    this.unblocking(at, () => {
      this.freeProbe(task)
      task.stage = 'completed'
      task.finishedAt = at
    })
    const breaker = this.breakers.get(task.facts.type)
    if (breaker?.state === 'closed' && task.lease?.epoch === breaker.epoch) breaker.failures = []
  }

  /** Tasks that become unblocked by the change are delayed only by their own `availableAt`. */
  private unblocking(at: number, change: () => void): void {
    const waiting = this.tasks.filter((each) => this.statusOf(each) === 'blocked')
    change()
    for (const each of waiting) {
      const { availableAt = 0 } = each.facts
      if (this.statusOf(each) !== 'blocked') each.delayedUntil = availableAt > at ? availableAt : 0
    }
  }

  private countFailure(task: ShadowTask, kind: BreakerSettings['countOn']): void {
    const rules = this.rules(task.facts.type)
    if (rules.countOn !== kind || task.lease === null) return
    const breaker = this.breaker(task.facts.type)
    if (breaker.state !== 'closed' || breaker.epoch !== task.lease.epoch) return
    breaker.failures = [...this.failuresNow(task.facts.type), this.at]
    breaker.lastFailure = this.at
  }

  private moveBreaker(event: EventOf<'BreakerOpened'> | EventOf<'BreakerHalfOpened'> | EventOf<'BreakerClosed'>): void {
    const breaker = this.breaker(event.data.taskType)
    breaker.probe = null
    if (event.type === 'BreakerHalfOpened') return void Object.assign(breaker, { state: 'half-open', halfOpenAt: event.at })
    const { cause, reason = cause } = event.data
    if (event.type === 'BreakerClosed') {
      return void Object.assign(breaker, { state: 'closed', failures: [], halfOpenAt: 0, reason })
    }
    const wait = Math.ceil(this.rules(event.data.taskType).halfOpenAfter * 1_000)
    const halfOpenAt = cause === 'manual' ? 0 : event.at + wait
    Object.assign(breaker, { state: 'open', openedAt: event.at, halfOpenAt, reason, epoch: breaker.epoch + 1 })
  }

  private breaker(type: string): ShadowBreaker {
    const fresh: ShadowBreaker = {
      state: 'closed', failures: [], lastFailure: 0, openedAt: 0, halfOpenAt: 0, epoch: 0, probe: null, reason: '',
    }
    const known = this.breakers.get(type)
    if (known === undefined) this.breakers.set(type, fresh)
    return known ?? fresh
  }
}
