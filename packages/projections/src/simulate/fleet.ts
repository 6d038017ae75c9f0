/** The agents of a simulation: they claim, work, report, crash and go home. */
import type { CommandOf } from '@daybook/core'
import { registrationSeconds } from '@daybook/core'
import type { Observer } from './observer.js'
import type { VirtualClaim, VirtualQueue } from './virtual-queue.js'
import type { Agent, AgentPool, Outcome, Period } from './workload.js'

/** What an agent needs of the simulation. */
export interface World {
  readonly queue: VirtualQueue
  readonly observer: Observer
  readonly until: number
  readonly after: (at: number, run: () => void) => void
  /** It has room for a task. */
  readonly wantsTask: (agent: FleetAgent) => void
  /** A task begins: its arrival's index, and how the attempt will go. */
  readonly begin: (task: string) => { readonly index: number; readonly outcome: Outcome }
}

/** A worker sends a heartbeat when a third of the lease is over. */
const heartbeatRatio = 1 / 3
/** Seconds for which a task allows a lease: ten years, so that the agent alone says how long its leases are. */
export const longestLease = 10 * 365 * 86_400

export class FleetAgent {
  /** The period in which it claims; `undefined` while it does not. */
  private period: Period | undefined
  /** Numbers its processes: one that starts after a crash has another name, as workers have. */
  private process = 1
  private running = 0
  private claim: VirtualClaim | undefined
  /** Tasks that it can work on at a time, as the observer knows. */
  private places = 0

  constructor(
    private readonly agent: Agent,
    private readonly pool: AgentPool,
    private readonly world: World,
  ) {
    for (const period of agent.periods) world.after(period.from, () => this.begin(period))
  }

  /** Claims a task, unless it claims already, or has no room. */
  ask(): void {
    const { queue } = this.world
    if (this.period === undefined || this.claim !== undefined || this.running >= this.agent.concurrency) return
    const claim = new FleetClaim(() => this.command(), (lease) => this.work(lease))
    this.claim = claim
    queue.claim(claim)
  }

  private get name(): string {
    return this.process === 1 ? this.agent.name : `${this.agent.name}~${this.process}`
  }

  private begin(period: Period): void {
    this.period = period
    this.register(Math.max(0.001, (this.world.until - period.from) / 1_000))
    this.world.after(period.to, () => (period.endsBy === 'crash' ? this.crash() : this.goHome()))
    this.countPlaces()
    this.world.wantsTask(this)
  }

  /**
   * Heartbeats are not sent one by one. The agent knows when it will crash, so it takes its leases for as long as its heartbeats
   * would have kept them: until the last one before the crash, and the length of a lease. Otherwise they never end.
   */
  private command(): CommandOf<'Claim'> {
    const { agent, pool, period, name } = this
    const { leaseMs } = agent
    const command = { type: 'Claim', agent: name, max: 1, ...pool.claim } as const
    if (period?.endsBy !== 'crash') return command
    const everyMs = leaseMs * heartbeatRatio
    const lastBeatMs = Math.floor((period.to - this.world.queue.at) / everyMs) * everyMs
    return { ...command, leaseSeconds: (lastBeatMs + leaseMs) / 1_000 }
  }

  private work({ task, token }: { readonly task: string; readonly token: number }): void {
    const { world, process } = this
    const { queue, observer } = world
    this.claim = undefined
    this.running++
    const { index, outcome } = world.begin(task)
    observer.started(queue.at, this.agent.pool, index)
    const endsAt = queue.at + outcome.runMs
    if (this.period?.endsBy !== 'crash' || endsAt < this.period.to) {
      world.after(endsAt, () => {
        // It crashed meanwhile.
        if (this.process !== process) return
        this.report(task, token, outcome)
      })
    }
    world.wantsTask(this)
  }

  private report(task: string, token: number, { result, random, retryAfterSeconds }: Outcome): void {
    const { queue, observer } = this.world
    this.running--
    observer.ended(queue.at, this.agent.pool)
    const held = { task, agent: this.name, token }
    if (result === 'completed') queue.do({ type: 'Complete', ...held, content: '{}', hasReport: true })
    else if (result === 'rate-limited') queue.do({ type: 'Fail', ...held, error: { message: 'rate limit', code: '429', ...(retryAfterSeconds === undefined ? {} : { retryAfter: retryAfterSeconds }) }, retryable: true }, random)
    else queue.do({ type: 'Fail', ...held, error: { message: 'failed' }, retryable: result === 'failed' }, random)
    this.countPlaces()
    this.world.wantsTask(this)
  }

  /** Nobody tells the queue: the leases end for want of heartbeats, and some minutes later the registration. */
  private crash(): void {
    const { world, name } = this
    const { queue, observer } = world
    this.stopClaiming()
    for (; this.running > 0; this.running--) observer.ended(queue.at, this.agent.pool)
    this.process++
    this.countPlaces()
    observer.crashed(queue.at, this.agent.pool)
    world.after(queue.at + registrationSeconds * 1_000, () => this.register(0.001, name))
  }

  private goHome(): void {
    this.stopClaiming()
    this.register(0.001)
    this.countPlaces()
  }

  private stopClaiming(): void {
    this.period = undefined
    if (this.claim !== undefined) this.world.queue.leave(this.claim)
    this.claim = undefined
  }

  private register(ttlSeconds: number, name = this.name): void {
    this.world.queue.do({ type: 'RegisterAgent', agent: name, ...this.pool.claim, ttlSeconds })
  }

  /** One that has gone home has a place for each task that it still finishes. */
  private countPlaces(): void {
    const now = this.period === undefined ? this.running : this.agent.concurrency
    if (now !== this.places) this.world.observer.places(this.world.queue.at, this.agent.pool, now - this.places)
    this.places = now
  }
}

class FleetClaim implements VirtualClaim {
  constructor(
    private readonly commandNow: () => CommandOf<'Claim'>,
    readonly take: VirtualClaim['take'],
  ) {}

  get command(): CommandOf<'Claim'> {
    return this.commandNow()
  }

  isOver(): boolean {
    return false
  }
}
