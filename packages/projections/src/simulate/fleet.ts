/** The agents of a simulation: they claim, work, report, crash and end their shifts. */
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
  /** The agent has room for a task. */
  readonly wantsTask: (agent: FleetAgent) => void
  /** Begins a task. Returns the index of its arrival, and how the attempt will go. */
  readonly begin: (task: string) => { readonly index: number; readonly outcome: Outcome }
}

/** A worker sends a heartbeat when this share of the lease is over. */
const heartbeatRatio = 1 / 3
/** The length of lease that a task allows, in seconds: ten years, so that only the agent determines the length of its leases. */
export const longestLease = 10 * 365 * 86_400

export class FleetAgent {
  /** The period in which the agent claims tasks; `undefined` while it does not. */
  private period: Period | undefined
  /** Number of its current process. A process that starts after a crash has another name, as workers have. */
  private process = 1
  private running = 0
  private claim: VirtualClaim | undefined
  /** Number of tasks that it can work on at a time, as the observer was told. */
  private places = 0

  constructor(
    private readonly agent: Agent,
    private readonly pool: AgentPool,
    private readonly world: World,
  ) {
    for (const period of agent.periods) world.after(period.from, () => this.begin(period))
  }

  /** Claims a task, unless a claim is waiting or there is no room. */
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
   * Heartbeats are not sent one by one. The agent knows when it will crash, so it takes each lease for as long as its heartbeats would have kept it:
   * until the last heartbeat before the crash, plus the length of a lease. Without a crash the lease does not end.
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
        // The process crashed meanwhile.
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

  /** Nobody tells the queue of a crash: the leases end because no heartbeats come, and some minutes later the registration ends. */
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

  /** A queue that has as many registered agents as it takes refuses another one. It then works without, as workers do. */
  private register(ttlSeconds: number, name = this.name): void {
    this.world.queue.attempt({ type: 'RegisterAgent', agent: name, ...this.pool.claim, ttlSeconds })
  }

  /** An agent whose shift is over has one place for each task that it still finishes. */
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
