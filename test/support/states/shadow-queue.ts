/** What the naive fold knows of a queue, and simple questions about it. Every question is a scan. */
import { type BreakerSettings, type Settings, settingsDefault, type Status } from '@daybook/core'
import { limitKeysOf, ShadowLimits } from './shadow-limits.js'
import { ShadowSchedules } from './shadow-schedules.js'
import type { ShadowAgent, ShadowBreaker, ShadowTask } from './shadow-task.js'

const ended = ['completed', 'cancelled', 'discarded']

interface ShadowPool {
  turn: number
  readonly turns: Map<string | undefined, number>
  leases: number
  /** By tenant: the number of its last lease since there last was no ready task. */
  readonly lastLeases: Map<string | undefined, number>
}

export class ShadowQueue {
  tasks: Array<ShadowTask> = []
  /** Finished tasks whose retention was over by the last event. */
  gone: Array<ShadowTask> = []
  protected forgottenUntil = 0
  /** Virtual times of the tenants, and that of the last lease: of all tasks, and of each type. Counted only once there was a task with a tenant. */
  private readonly pools = new Map<string | undefined, ShadowPool>()
  protected hasTenants = false
  readonly breakers = new Map<string, ShadowBreaker>()
  readonly schedules = new ShadowSchedules()
  agents: Array<ShadowAgent> = []
  /** The redrive that is under way. */
  redrive: { nextAt: number } | undefined
  /** Types that wait after a rate limit, and agents that sleep, each until when. */
  readonly slowdowns = new Map<string, number>()
  readonly sleepers = new Map<string, number>()
  readonly limits = new ShadowLimits()
  settings: Settings = settingsDefault
  paused: string | null = null
  deleted: string | null = null
  at = 0
  revision = -1

  /** A task that was known at the last event, or at `at`. */
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

  /** Dependencies that are not completed. A dependency that is gone was completed, even if another task now has its id. */
  missing(task: ShadowTask): ReadonlyArray<string> {
    return (task.facts.dependencies ?? []).filter((id) => (this.dependency(task, id, 0)?.stage ?? 'completed') !== 'completed')
  }

  /** The first unfinished task of its line; `undefined` if that is the task itself. */
  ahead({ facts: { orderingKey, number } }: ShadowTask): ShadowTask | undefined {
    if (orderingKey === undefined) return undefined
    return this.tasks.find((other) => other.facts.orderingKey === orderingKey && other.facts.number < number && !this.isEnded(other))
  }

  /** The task with this id on which this one was made to depend, if it is still known at `at`. */
  dependency(task: ShadowTask, id: string, at: number): ShadowTask | undefined {
    return this.tasks.find((other) => other.facts.task === id && other.facts.number < task.facts.number && this.isKnown(other, at))
  }

  /** The unfinished tasks that depend on this one. */
  dependentsOf(task: ShadowTask): ReadonlyArray<ShadowTask> {
    return this.tasks.filter((other) => !this.isEnded(other) && (other.facts.dependencies ?? []).some((id) => this.dependency(other, id, 0) === task))
  }

  /** The unfinished tasks that this one keeps waiting in its line. */
  behind(task: ShadowTask): ReadonlyArray<ShadowTask> {
    return this.tasks.filter((other) => !this.isEnded(other) && this.ahead(other) === task)
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

  /** The pool of a type, or of all tasks. */
  protected pool(type?: string): ShadowPool {
    const known = this.pools.get(type) ?? { turn: 0, turns: new Map<string | undefined, number>(), leases: 0, lastLeases: new Map<string | undefined, number>() }
    this.pools.set(type, known)
    return known
  }

  /** Of each pool, its tenants with a pending task other than this one. */
  protected waitingTenants(except?: ShadowTask): ReadonlyMap<string | undefined, ReadonlySet<string | undefined>> {
    const pending = this.tasks.filter((task) => task !== except && this.statusOf(task) === 'pending')
    const types = new Set([undefined, ...pending.map(({ facts }) => facts.type)])
    return new Map([...types].map((type) => [type, new Set(pending.filter(({ facts }) => type === undefined || facts.type === type).map(({ facts }) => facts.tenant))]))
  }

  /** Whether a limit keeps all tasks with these facts from starting. */
  isLimited(facts: ShadowTask['facts']): boolean {
    return limitKeysOf(facts).some((key) => {
      const { concurrency = Number.POSITIVE_INFINITY } = this.limits.of(key)
      return this.limits.shut.has(key) || this.tasks.filter((task) => this.isHeld(task) && limitKeysOf(task.facts).includes(key)).length >= concurrency
    })
  }

  protected admits({ facts }: ShadowTask): boolean {
    if (this.slowdowns.has(facts.type) || this.isLimited(facts)) return false
    const breaker = this.breakers.get(facts.type)
    return breaker === undefined || breaker.state === 'closed' || (breaker.state === 'half-open' && breaker.probe === null)
  }

  /** All tasks except the finished ones whose retention is over at `at`. */
  knownAt(at: number): Array<ShadowTask> {
    return this.tasks.filter((task) => this.isKnown(task, at))
  }

  isKnown(task: ShadowTask, at: number): boolean {
    return !this.isEnded(task) || task.finishedAt > this.forgottenAt(at)
  }

  /** Tasks that finished at or before this time are forgotten, even if the retention is longer now. */
  protected forgottenAt(at: number): number {
    return Math.max(this.forgottenUntil, at - this.settings.retentionSeconds * 1_000)
  }

  /** The failures that the breaker still counts. */
  failuresNow(type: string): ReadonlyArray<number> {
    const breaker = this.breakers.get(type)
    const isForgotten = breaker !== undefined && breaker.lastFailure + this.rules(type).cooldownSeconds * 1_000 < this.at
    return breaker === undefined || isForgotten ? [] : breaker.failures
  }
}
