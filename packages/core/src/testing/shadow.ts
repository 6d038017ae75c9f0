/**
 * A second, naive fold of a queue's events: arrays without indexes, and every question is a scan. It shares no code
 * with the fold, so tests compare the two (INV-11, INV-20).
 */
import type { CommandOf } from '../commands.js'
import type { DataOf, EventOf, ExpiryCause, QueueEvent } from '../events.js'
import { type BreakerSettings, type Settings, settingsDefault, type SettingsPatch } from '../settings.js'
import { Score } from '../ready/score.js'
import type { Status } from '../task.js'
import { ShadowSchedules } from './shadow-schedules.js'
import { limitKeysOf, ShadowLimits } from './shadow-limits.js'

export interface ShadowLease {
  readonly agent: string
  readonly token: number
  readonly at: number
  readonly epoch: number
  readonly probe: boolean
  expiresAt: number
}

export interface ShadowTask {
  /** As amended. */
  facts: DataOf<'TaskEnqueued'>
  readonly createdAt: number
  readonly enqueuedRevision: number
  contentRevision: number
  /** `waiting` means unfinished and not held: see {@link Shadow.statusOf}. */
  stage: 'waiting' | 'parked' | 'held' | 'incomplete' | 'dead-letter' | 'completed' | 'cancelled' | 'discarded'
  /** The end of the task's delay; 0 if there is none, or if it is over. */
  delayedUntil: number
  retries: number
  attempts: number
  lease: ShadowLease | null
  barred: Array<string>
  /** It was bumped, and no attempt has ended since. */
  isBumped: boolean
  /** Agents that failed it, each with the time of its last failure, the newest last. */
  failers: Array<readonly [agent: string, at: number]>
  finishedAt: number
  lastRevision: number
  checkpointRevision: number | undefined
  progressRevision: number | undefined
  lastError: string | undefined
  signature: string | undefined
  deadLetter: { readonly at: number; readonly reason: string } | undefined
  rateLimits: number | undefined
  snooze: { readonly until: number } | undefined
  escalated: { readonly at: number; readonly reviewer: string; readonly reason: string } | undefined
  parked: { readonly callbackKey: string; readonly until: number; readonly onTimeout: 'fail' | 'requeue' } | undefined
  callback: { readonly key: string; readonly at: number; readonly revision: number } | undefined
}

export interface ShadowBreaker {
  state: 'closed' | 'open' | 'half-open'
  /** The times of the failures that still count. */
  failures: Array<number>
  lastFailure: number
  openedAt: number
  halfOpenAt: number
  epoch: number
  probe: string | null
  reason: string
}

export interface ShadowAgent extends Omit<DataOf<'AgentRegistered'>, 'endsAt'> {
  readonly ttlMs: number
  readonly seenAt: number
}

type Request = Omit<CommandOf<'Claim'>, 'type' | 'max'>
export interface ShadowPick {
  readonly task: ShadowTask
  readonly probe: boolean
}

const expiryText: Readonly<Record<ExpiryCause, string>> = {
  'lease-expired': 'lease expired without a heartbeat',
  'report-missing': 'decision report missing',
  'agent-terminated': 'agent terminated',
  'ran-too-long': 'the attempt took longer than maxRunSeconds',
}
const ended = ['completed', 'cancelled', 'discarded']
/** The events by which an agent is heard of. */
const words = ['Claimed', 'LeaseExtended', 'MarkedIncomplete', 'Completed', 'Failed', 'RateLimited', 'Released', 'ClaimReturned', 'TaskParked']

export class Shadow {
  tasks: Array<ShadowTask> = []
  /** Finished tasks whose retention was over by the last event. */
  gone: Array<ShadowTask> = []
  private forgottenUntil = 0
  /** Virtual times of the tenants, and that of the last lease; counted since there is a task with a tenant. */
  private readonly turns = new Map<string | undefined, number>()
  private readonly lastTokens = new Map<string | undefined, number>()
  private lastToken = 0
  private turn = 0
  private hasTenants = false
  readonly breakers = new Map<string, ShadowBreaker>()
  readonly schedules = new ShadowSchedules()
  agents: Array<ShadowAgent> = []
  /** The redrive that is under way. */
  redrive: { nextAt: number } | undefined
  /** Types that wait after a rate limit, and agents that sleep. */
  readonly slowdowns = new Map<string, number>()
  readonly sleepers = new Map<string, number>()
  readonly limits = new ShadowLimits()
  settings: Settings = settingsDefault
  paused: string | null = null
  deleted: string | null = null
  at = 0
  revision = -1

  static of(events: ReadonlyArray<QueueEvent>): Shadow {
    const shadow = new Shadow()
    for (const event of events) shadow.fold(event)
    return shadow
  }

  /** A task that was known before the last event, or at `at`. */
  task(id: string, at = 0): ShadowTask | undefined {
    return this.tasks.find((task) => task.facts.task === id && this.isKnown(task, at))
  }

  isHeld(task: ShadowTask): boolean {
    return task.stage === 'held' || task.stage === 'incomplete'
  }

  /** Whether the task neither runs nor will run by itself. */
  isOver(id: string): boolean {
    const task = this.task(id)
    return task === undefined || this.isEnded(task) || task.stage === 'dead-letter'
  }

  isEnded(task: ShadowTask): boolean {
    return ended.includes(task.stage)
  }

  /** Dependencies that are not completed. One that is gone was completed, even if its id is now used by another task. */
  missing(task: ShadowTask): ReadonlyArray<string> {
    return (task.facts.dependencies ?? []).filter((id) => (this.dependency(task, id, 0)?.stage ?? 'completed') !== 'completed')
  }

  /** The first unfinished task of its line, if that is another one. */
  ahead({ facts: { orderingKey, number } }: ShadowTask): ShadowTask | undefined {
    if (orderingKey === undefined) return undefined
    return this.tasks.find((other) => other.facts.orderingKey === orderingKey && other.facts.number < number && !this.isEnded(other))
  }

  /** The task with this id on which this one was made to depend, if it is still known at `at`. */
  dependency(task: ShadowTask, id: string, at: number): ShadowTask | undefined {
    return this.tasks.find((other) => other.facts.task === id && other.facts.number < task.facts.number && this.isKnown(other, at))
  }

  statusOf(task: ShadowTask): Status {
    if (task.stage === 'held') return 'in-progress'
    if (task.stage === 'parked') return 'waiting'
    if (task.stage !== 'waiting') return task.stage
    return this.missing(task).length > 0 || this.ahead(task) !== undefined ? 'blocked' : task.delayedUntil > 0 ? 'scheduled' : 'pending'
  }

  rules(type: string): BreakerSettings {
    const { defaults, overrides } = this.settings.breakers
    return { ...defaults, ...(Object.hasOwn(overrides, type) ? overrides[type] : {}) }
  }

  /** The tasks that this claim must get, best first (INV-11). With `only`, as if no other task waited. */
  pick(request: Request, max: number, at = this.at, only?: ShadowTask): ReadonlyArray<ShadowPick> {
    if (this.paused !== null || this.sleepers.has(request.agent)) return []
    const now = Math.max(at, this.at)
    const most = Math.min(max, this.roomOf(request.agent, now))
    const picked: Array<ShadowPick> = []
    const deferred: Array<ShadowTask> = []
    const isTested = (type: string): boolean => picked.some((pick) => pick.probe && pick.task.facts.type === type)
    const hasRoom = ({ facts }: ShadowTask): boolean => limitKeysOf(facts).every((key) => this.hasRoom(key, picked, now))
    const takeable = this.takeable(this.registeredRequest(request, now))
    let left = takeable.filter((task) => (only === undefined || task === only) && hasRoom(task) && this.hasCapacityFor(task, request.agent)).sort(this.orderAt(now))
    let passedOver = 0
    const turns = new Map(this.turns)
    while (left.length > 0 && picked.length < most) {
      const byTurn = (a: ShadowTask, b: ShadowTask): number =>
        Number(b.isBumped) - Number(a.isBumped) ||
        (a.isBumped ? 0 : (turns.get(a.facts.tenant) ?? 0) - (turns.get(b.facts.tenant) ?? 0) || byTenantName(a.facts.tenant, b.facts.tenant))
      const task = [...left].sort(byTurn)[0] as ShadowTask
      const { tenant } = task.facts
      const { type } = task.facts
      left = left.filter((other) => other !== task)
      const isBarred = task.barred.includes(request.agent)
      if (isBarred || this.isLast(task, request.agent, now)) {
        if (!isBarred) deferred.push(task)
        if (++passedOver > this.settings.assignment.maxQueueScanBatch) break
        continue
      }
      const probe = this.breakers.get(type)?.state === 'half-open'
      if (probe) left = left.filter(({ facts }) => facts.type !== type)
      picked.push({ task, probe })
      left = left.filter(hasRoom)
      if (this.hasTenants && !task.isBumped) turns.set(tenant, (turns.get(tenant) ?? 0) + this.leaseCost(tenant))
    }
    // What the agent failed lately comes last, and only if no other agent could take it.
    for (const task of deferred) {
      const { type } = task.facts
      if (picked.length >= most || isTested(type) || !hasRoom(task) || this.othersFor(task, request.agent, now).length > 0) continue
      picked.push({ task, probe: this.breakers.get(type)?.state === 'half-open' })
    }
    return picked
  }

  /** Agents that hold a task. */
  activeAgents(): ReadonlySet<string> {
    return new Set(this.tasks.flatMap((task) => (this.isHeld(task) && task.lease !== null ? [task.lease.agent] : [])))
  }

  /** Whether capacity lets this agent take the task now (INV-10). */
  hasCapacityFor(task: ShadowTask, agent: string): boolean {
    const { maxConcurrentAgents, overcapLimit, bumpAndStart } = this.settings.capacity
    const active = this.activeAgents()
    if (active.size < maxConcurrentAgents) return true
    const mayExceed = task.isBumped && bumpAndStart
    return active.has(agent) ? mayExceed || active.size === maxConcurrentAgents : mayExceed && active.size < maxConcurrentAgents + overcapLimit
  }

  /** The status as it is shown: `queued` at capacity. */
  shownStatusOf(task: ShadowTask): Status {
    const status = this.statusOf(task)
    return status === 'pending' && this.activeAgents().size >= this.settings.capacity.maxConcurrentAgents ? 'queued' : status
  }

  /** Agents whose registration has not ended at `at`. */
  registeredAt(at: number): ReadonlyArray<ShadowAgent> {
    return this.agents.filter(({ seenAt, ttlMs }) => seenAt + ttlMs > at)
  }

  /** The tasks for which this agent comes last because it failed them. */
  isLast(task: ShadowTask, agent: string, at: number): boolean {
    const windowMs = this.settings.assignment.agentTaskBackoffWindow * 1_000
    return task.failers.some(([failer, failedAt]) => failer === agent && failedAt + windowMs > at)
  }

  private registered(agent: string, at: number): ShadowAgent | undefined {
    return this.registeredAt(at).find((known) => known.agent === agent)
  }

  /** What the claim leaves out is taken from the registration. */
  private registeredRequest(request: Request, at: number): Request {
    const { types, phases, skills, tenant } = this.registered(request.agent, at) ?? {}
    return JSON.parse(JSON.stringify({ types, phases, skills, tenant, ...request })) as Request
  }

  private roomOf(agent: string, at: number): number {
    const { maxTasks = Number.POSITIVE_INFINITY } = this.registered(agent, at) ?? {}
    return maxTasks - this.tasks.filter((task) => this.isHeld(task) && task.lease?.agent === agent).length
  }

  private othersFor(task: ShadowTask, asker: string, at: number): ReadonlyArray<ShadowAgent> {
    return this.registeredAt(at).filter(
      (other) =>
        other.agent !== asker &&
        this.fits(task, other) &&
        this.roomOf(other.agent, at) > 0 &&
        !task.barred.includes(other.agent) &&
        !this.isLast(task, other.agent, at),
    )
  }

  private hasRoom(key: string, picked: ReadonlyArray<ShadowPick>, at: number): boolean {
    const counts = ({ facts }: ShadowTask): boolean => limitKeysOf(facts).includes(key)
    const live = this.tasks.filter((task) => this.isHeld(task) && counts(task)).length
    return this.limits.admits(key, live, picked.filter(({ task }) => counts(task)).length, at)
  }

  /** The queue's policy (LK-17): which of two tasks is served first at this time. */
  private orderAt(at: number): (a: ShadowTask, b: ShadowTask) => number {
    const ranks = (task: ShadowTask): ReadonlyArray<number> => {
      const { priority, number } = task.facts
      const isStarved = at - task.createdAt > this.settings.score.starvationLimit * 1_000
      const { units, floor } = this.scoreOf(task, at)
      return this.settings.policy === 'score'
        ? [isStarved ? Math.max(units, floor) : units, priority, -task.createdAt, -number]
        : [isStarved ? 1 : 0, priority, units, -task.createdAt, -number]
    }
    const rankOf = new Map(this.tasks.map((task) => [task, ranks(task)]))
    return (a, b) => {
      const [ofA, ofB] = [rankOf.get(a) as ReadonlyArray<number>, rankOf.get(b) as ReadonlyArray<number>]
      const index = ofA.findIndex((rank, i) => rank !== ofB[i])
      return index < 0 ? 0 : (ofB[index] as number) - (ofA[index] as number)
    }
  }

  /** The score by the formula of TQM-PRI-002, rounded to the units in which scores are counted, and the floor of starved tasks. */
  scoreOf(task: ShadowTask, at: number): { readonly units: number; readonly floor: number } {
    const { score } = this.settings
    const { unit } = new Score(score)
    const { facts } = task
    const untilDeadline = facts.deadlineAt === undefined ? Number.POSITIVE_INFINITY : (facts.deadlineAt - at) / 1_000
    const blocked = this.tasks.filter((other) => !this.isEnded(other) && (other.facts.dependencies ?? []).some((id) => this.dependency(other, id, 0) === task)).length
    const sum =
      score.priority * shareOfPriority(facts.priority) +
      score.age * Math.min((at - task.createdAt) / 1_000 / score.ageCeiling, 1) +
      score.deadline * Math.min(Math.max(0, 1 - untilDeadline / score.slaUrgencyWindow), 1) +
      score.blockers * Math.min(blocked / score.blockerCeiling, 1) +
      score.retries * Math.max(0, 1 - task.retries / Math.max(1, facts.maxRetries))
    return { units: Math.round(sum * unit) * (untilDeadline <= score.slaUrgencyWindow ? score.slaBoost : 1), floor: score.starvationFloor * unit }
  }

  /** Virtual time of one lease: 5,040,000 at weight 1. */
  private leaseCost(tenant: string | undefined): number {
    const { tenants } = this.settings.assignment
    const weight = tenant !== undefined && Object.hasOwn(tenants, tenant) ? tenants[tenant] : tenants['default']
    return Math.max(1, Math.round(5_040_000 / (weight ?? 1)))
  }

  /** Tenants with a pending task, other than this one, whose type is admitted by its breaker. */
  private tenantsWithWork(except?: ShadowTask): ReadonlySet<string | undefined> {
    return new Set(this.tasks.filter((task) => task !== except && this.statusOf(task) === 'pending' && this.admits(task)).map(({ facts }) => facts.tenant))
  }

  /** Whether a limit keeps all tasks with these facts from starting. */
  isLimited(facts: ShadowTask['facts']): boolean {
    return limitKeysOf(facts).some((key) => {
      const { concurrency = Number.POSITIVE_INFINITY } = this.limits.of(key)
      return this.limits.shut.has(key) || this.tasks.filter((task) => this.isHeld(task) && limitKeysOf(task.facts).includes(key)).length >= concurrency
    })
  }

  private admits({ facts }: ShadowTask): boolean {
    if (this.slowdowns.has(facts.type) || this.isLimited(facts)) return false
    const breaker = this.breakers.get(facts.type)
    return breaker === undefined || breaker.state === 'closed' || (breaker.state === 'half-open' && breaker.probe === null)
  }

  private fits({ facts }: ShadowTask, { types, phases, skills, tenant }: Omit<Request, 'agent'>): boolean {
    return (
      (types === undefined || types.some((pattern) => like(pattern, facts.type))) &&
      (phases === undefined || facts.phase === undefined || phases.includes(facts.phase)) &&
      (tenant === undefined || facts.tenant === tenant) &&
      (facts.skills ?? []).every((skill) => (skills ?? []).includes(skill))
    )
  }

  private takeable(request: Request): Array<ShadowTask> {
    return this.tasks.filter((task) => this.statusOf(task) === 'pending' && this.fits(task, request) && this.admits(task))
  }

  fold(event: QueueEvent): void {
    this.revision++
    this.at = Math.max(this.at, event.at)
    this.forgottenUntil = this.forgottenAt(this.at)
    this.gone.push(...this.tasks.filter((task) => !this.isKnown(task, this.at)))
    this.tasks = this.knownAt(this.at)
    const id = 'task' in event.data ? event.data.task : undefined
    const task = id === undefined ? undefined : this.task(id)
    // A task beyond its retention can still be erased.
    const named = event.type === 'TaskErased' ? (task ?? this.gone.findLast(({ facts }) => facts.task === id)) : task
    if (named !== undefined) named.lastRevision = this.revision
    this.deleted = null
    // A task that is cancelled leaves before the next of its line takes its place.
    const withWork = this.hasTenants ? this.tenantsWithWork(event.type === 'Cancelled' ? task : undefined) : undefined
    if (event.type === 'Claimed') this.lastToken = event.data.token
    if (event.type === 'Claimed' && task !== undefined && this.hasTenants && !task.isBumped) this.chargeFor(task, event.data.token)
    this.foldOn(event, task as ShadowTask)
    this.schedules.fold(event, (other) => this.isOver(other))
    this.hear(event)
    if (!this.hasTenants) return
    // A tenant that had nothing to take comes back at the virtual time of the last lease.
    for (const tenant of this.tenantsWithWork()) {
      if (withWork?.has(tenant) === true) continue
      const isForgiven = (this.lastTokens.get(tenant) ?? 0) <= this.lastToken - 10_000
      this.turns.set(tenant, isForgiven ? this.turn : Math.max(this.turns.get(tenant) ?? 0, this.turn))
    }
  }

  private chargeFor({ facts: { tenant } }: ShadowTask, token: number): void {
    this.lastTokens.set(tenant, token)
    const turn = this.turns.get(tenant) ?? 0
    this.turn = Math.max(this.turn, turn)
    this.turns.set(tenant, turn + this.leaseCost(tenant))
  }

  /** All tasks except the finished ones whose retention is over at `at`. */
  knownAt(at: number): Array<ShadowTask> {
    return this.tasks.filter((task) => this.isKnown(task, at))
  }

  isKnown(task: ShadowTask, at: number): boolean {
    return !this.isEnded(task) || task.finishedAt > this.forgottenAt(at)
  }

  /** Tasks that finished at or before this time are forgotten, even if the retention is longer now. */
  private forgottenAt(at: number): number {
    return Math.max(this.forgottenUntil, at - this.settings.retentionSeconds * 1_000)
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

  /** Tasks that nothing keeps back after the change are delayed by their own `availableAt` only. */
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

  /** The failures that the breaker still counts. */
  failuresNow(type: string): ReadonlyArray<number> {
    const breaker = this.breakers.get(type)
    const isForgotten = breaker !== undefined && breaker.lastFailure + this.rules(type).cooldownSeconds * 1_000 < this.at
    return breaker === undefined || isForgotten ? [] : breaker.failures
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

const shareOfPriority = (priority: number): number => {
  if (priority >= 8) return 0.75 + (priority - 8) * 0.125
  if (priority >= 5) return 0.5 + ((priority - 5) * 0.25) / 3
  return priority >= 3 ? 0.25 + (priority - 3) * 0.125 : 1 / 12 + (priority - 1) / 12
}

/** No tenant comes first. */
const byTenantName = (a: string | undefined, b: string | undefined): number =>
  a === b ? 0 : a === undefined ? -1 : b === undefined ? 1 : a < b ? -1 : 1

export const byPriorityThenAge = (a: ShadowTask, b: ShadowTask): number =>
  b.facts.priority - a.facts.priority || a.facts.number - b.facts.number

const like = (pattern: string, type: string): boolean =>
  new RegExp(`^${pattern.replace(/[$()+.?[\]\\^{|}]/g, '\\$&').replace(/\*$/, '.*')}$`, 's').test(type)

const patched = (settings: Settings, patch: SettingsPatch): Settings => {
  const next = JSON.parse(JSON.stringify(settings)) as Settings
  const { breakers, ...rest } = patch
  merge(next as Loose, rest)
  merge(next.breakers.defaults as Loose, breakers?.defaults ?? {})
  const overrides = next.breakers.overrides as Loose
  for (const [type, override] of Object.entries(breakers?.overrides ?? {})) {
    if (override === null) delete overrides[type]
    else overrides[type] = { ...(overrides[type] as Loose | undefined), ...override }
  }
  return next
}
type Loose = Record<string, unknown>
const merge = (into: Loose, part: object): void => {
  for (const [key, value] of Object.entries(part)) {
    if (value === null) delete into[key]
    else if (typeof value === 'object') merge((into[key] ??= {}) as Loose, value as object)
    else into[key] = value
  }
}
