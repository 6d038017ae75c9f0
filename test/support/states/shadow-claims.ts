/** Which tasks a claim must get, by the naive fold: all waiting tasks are sorted anew for each claim. */
import type { CommandOf } from '@daybook/core'
import { Score } from '@daybook/core/testing'
import { limitKeysOf } from './shadow-limits.js'
import { ShadowQueue } from './shadow-queue.js'
import type { ShadowAgent, ShadowTask } from './shadow-task.js'

type Request = Omit<CommandOf<'Claim'>, 'type' | 'max'>
export interface ShadowPick {
  readonly task: ShadowTask
  readonly probe: boolean
}

export class ShadowClaims extends ShadowQueue {
  /** The tasks that this claim must get, best first (INV-11). With `only`: as if no other task waited. */
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
    const asked = this.registeredRequest(request, now).types
    // A claim that names one type goes by the turns of that type.
    const named = new Set(asked)
    const [first] = named
    const pool = this.pool(named.size === 1 && first?.endsWith('*') === false ? first : undefined)
    const turns = new Map(pool.turns)
    let poolTurn = pool.turn
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
      if (this.hasTenants && !task.isBumped) {
        poolTurn = Math.max(poolTurn, turns.get(tenant) ?? 0)
        turns.set(tenant, poolTurn + this.leaseCost(tenant))
      }
    }
    // Tasks that the agent failed lately come last, and only if no other agent could take them.
    for (const task of deferred) {
      const { type } = task.facts
      if (picked.length >= most || isTested(type) || !hasRoom(task) || this.othersFor(task, request.agent, now).length > 0) continue
      picked.push({ task, probe: this.breakers.get(type)?.state === 'half-open' })
    }
    return picked
  }

  /** Whether this agent comes last for the task because it failed it lately. */
  isLast(task: ShadowTask, agent: string, at: number): boolean {
    const windowMs = this.settings.assignment.agentTaskBackoffWindow * 1_000
    return task.failers.some(([failer, failedAt]) => failer === agent && failedAt + windowMs > at)
  }

  protected registered(agent: string, at: number): ShadowAgent | undefined {
    return this.registeredAt(at).find((known) => known.agent === agent)
  }

  /** Fields that the claim leaves out are taken from the registration. */
  protected registeredRequest(request: Request, at: number): Request {
    const { types, phases, skills, tenant } = this.registered(request.agent, at) ?? {}
    return JSON.parse(JSON.stringify({ types, phases, skills, tenant, ...request })) as Request
  }

  protected roomOf(agent: string, at: number): number {
    const { maxTasks = Number.POSITIVE_INFINITY } = this.registered(agent, at) ?? {}
    return maxTasks - this.tasks.filter((task) => this.isHeld(task) && task.lease?.agent === agent).length
  }

  protected othersFor(task: ShadowTask, asker: string, at: number): ReadonlyArray<ShadowAgent> {
    // It is left to others for a minute after its longest backoff.
    const { maxBackoffSeconds, jitter } = this.settings.defaults
    const backoffMs = Math.round(Math.min(task.facts.backoffSeconds * 2 ** (task.retries - 1), maxBackoffSeconds) * (1 + jitter) * 1_000)
    if (!task.failers.some(([, failedAt]) => failedAt + backoffMs + 60_000 > at)) return []
    return this.registeredAt(at).filter(
      (other) =>
        other.agent !== asker &&
        this.fits(task, other) &&
        this.roomOf(other.agent, at) > 0 &&
        !this.sleepers.has(other.agent) &&
        this.hasCapacityFor(task, other.agent) &&
        !task.barred.includes(other.agent) &&
        !this.isLast(task, other.agent, at),
    )
  }

  protected hasRoom(key: string, picked: ReadonlyArray<ShadowPick>, at: number): boolean {
    const counts = ({ facts }: ShadowTask): boolean => limitKeysOf(facts).includes(key)
    const live = this.tasks.filter((task) => this.isHeld(task) && counts(task)).length
    return this.limits.admits(key, live, picked.filter(({ task }) => counts(task)).length, at)
  }

  /** The queue's policy (LK-17): which of two tasks is served first at this time. */
  protected orderAt(at: number): (a: ShadowTask, b: ShadowTask) => number {
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

  /** The score by the formula of TQM-PRI-002, in rounded units, and the floor of starved tasks. */
  scoreOf(task: ShadowTask, at: number): { readonly units: number; readonly floor: number } {
    const { score } = this.settings
    const { unit } = new Score(score)
    const { facts } = task
    const untilDeadline = facts.deadlineAt === undefined ? Number.POSITIVE_INFINITY : (facts.deadlineAt - at) / 1_000
    const blocked = this.dependentsOf(task).length
    const sum =
      score.priority * shareOfPriority(facts.priority) +
      score.age * Math.min((at - task.createdAt) / 1_000 / score.ageCeiling, 1) +
      score.deadline * Math.min(Math.max(0, 1 - untilDeadline / score.slaUrgencyWindow), 1) +
      score.blockers * Math.min(blocked / score.blockerCeiling, 1) +
      score.retries * Math.max(0, 1 - task.retries / Math.max(1, facts.maxRetries))
    return { units: Math.round(sum * unit) * (untilDeadline <= score.slaUrgencyWindow ? score.slaBoost : 1), floor: score.starvationFloor * unit }
  }

  /** The virtual time that a lease costs: 5,040,000 at weight 1. */
  protected leaseCost(tenant: string | undefined): number {
    const { tenants } = this.settings.assignment
    const weight = tenant !== undefined && Object.hasOwn(tenants, tenant) ? tenants[tenant] : tenants['default']
    return Math.max(1, Math.round(5_040_000 / (weight ?? 1)))
  }

  protected fits({ facts }: ShadowTask, { types, phases, skills, tenant }: Omit<Request, 'agent'>): boolean {
    return (
      (types === undefined || types.some((pattern) => like(pattern, facts.type))) &&
      (phases === undefined || facts.phase === undefined || phases.includes(facts.phase)) &&
      (tenant === undefined || facts.tenant === tenant) &&
      (facts.skills ?? []).every((skill) => (skills ?? []).includes(skill))
    )
  }

  protected takeable(request: Request): Array<ShadowTask> {
    return this.tasks.filter((task) => this.statusOf(task) === 'pending' && this.fits(task, request) && this.admits(task))
  }
}

const shareOfPriority = (priority: number): number => {
  if (priority >= 8) return 0.75 + (priority - 8) * 0.125
  if (priority >= 5) return 0.5 + ((priority - 5) * 0.25) / 3
  return priority >= 3 ? 0.25 + (priority - 3) * 0.125 : 1 / 12 + (priority - 1) / 12
}

/** Tasks without a tenant come first. */
const byTenantName = (a: string | undefined, b: string | undefined): number =>
  a === b ? 0 : a === undefined ? -1 : b === undefined ? 1 : a < b ? -1 : 1

const like = (pattern: string, type: string): boolean =>
  new RegExp(`^${pattern.replace(/[$()+.?[\]\\^{|}]/g, '\\$&').replace(/\*$/, '.*')}$`, 's').test(type)
