/** An agent of a recording in the model. It is present when it was in reality, and its attempts go as they were recorded. */
import type { CommandOf, QueueEvent } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import type { VirtualClaim, VirtualQueue } from '../simulate/virtual-queue.js'
import type { Observer } from '../simulate/observer.js'
import type { Attempt, Held, RecordedAgent } from './recording.js'

/** What an agent needs of the model. */
export interface World {
  readonly queue: VirtualQueue
  readonly observer: Observer
  readonly after: (at: number, run: () => void) => void
  readonly wantsTask: (agent: ReplayAgent) => void
  /** How the next attempt at this task will go. */
  readonly peek: (task: string) => Attempt
  /** The same, and begins the attempt. */
  readonly begin: (task: string) => { readonly index: number; readonly attempt: Attempt }
  /** The agent has the task. `lost` is called if the queue takes it away. */
  readonly holds: (task: string, lost: () => void) => void
  readonly letGo: (task: string) => void
  readonly completed: (task: string) => void
}

/** A lease under way. */
interface Lease extends Pick<Held, 'token' | 'expiresAt' | 'leaseMs'> {
  readonly task: string
}

export class ReplayAgent {
  private isThere = false
  private running = 0
  private places = 0
  private claim: VirtualClaim | undefined

  constructor(
    private readonly agent: RecordedAgent,
    private readonly pool: number,
    private readonly world: World,
  ) {}

  /** The agent comes, goes or registers. */
  sign({ isThere, registers }: RecordedAgent['signs'][number]): void {
    const { world } = this
    if (registers !== undefined) world.queue.attempt(registers)
    if (isThere === undefined) return
    this.isThere = isThere
    this.countPlaces()
    if (isThere) return world.wantsTask(this)
    if (this.claim !== undefined) world.queue.leave(this.claim)
    this.claim = undefined
  }

  ask(): void {
    const { queue } = this.world
    if (!this.isThere || this.claim !== undefined || this.running >= this.agent.concurrency) return
    const claim = new ReplayClaim(this.command(), (lease) => this.work(lease), (task) => this.leaseFor(task))
    this.claim = claim
    queue.claim(claim)
  }

  /** The agent had this task when the period began. */
  resume(task: string, { token, claimedAt, expiresAt, leaseMs }: Held): void {
    this.running++
    this.countPlaces()
    this.follow({ task, token, expiresAt, leaseMs }, claimedAt, this.world.begin(task).attempt)
  }

  private command(): CommandOf<'Claim'> {
    const { types, phases, skills, tenant } = this.agent.abilities
    return {
      type: 'Claim', agent: this.agent.name, max: 1,
      ...(types === undefined ? {} : { types }), ...(phases === undefined ? {} : { phases }), ...(skills === undefined ? {} : { skills }), ...(tenant === undefined ? {} : { tenant }),
    }
  }

  private leaseFor(task: string): number | undefined {
    const { ms, end } = this.world.peek(task)
    return isSilent(end) ? Math.max(1, ms) / 1_000 : undefined
  }

  private work({ task, token, expiresAt }: { readonly task: string; readonly token: number; readonly expiresAt: number }): void {
    const { world } = this
    const { at } = world.queue
    this.claim = undefined
    this.running++
    const { index, attempt } = world.begin(task)
    world.observer.started(at, this.pool, index)
    this.follow({ task, token, expiresAt, leaseMs: expiresAt - at }, at, attempt)
    world.wantsTask(this)
  }

  private follow(lease: Lease, claimedAt: number, attempt: Attempt): void {
    const { world } = this
    const { task } = lease
    const endsAt = claimedAt + attempt.ms
    let isHeld = true
    const free = (): void => {
      if (!isHeld) return
      isHeld = false
      world.letGo(task)
      this.running--
      world.observer.ended(world.queue.at, this.pool)
      this.countPlaces()
      world.wantsTask(this)
    }
    world.holds(task, free)
    const whileHeld = (run: () => void) => (): void => {
      if (isHeld) run()
    }
    if (!isSilent(attempt.end)) world.after(Math.max(world.queue.at, endsAt), whileHeld(() => {
      free()
      this.report(lease, attempt)
    }))
    const keep = (expiresAt: number): void => {
      const next = beatAt(attempt, endsAt, expiresAt, lease.leaseMs)
      if (next === undefined) return
      world.after(Math.max(world.queue.at, next), whileHeld(() => {
        const beat = world.queue.attempt({ type: 'Heartbeat', task, agent: this.agent.name, token: lease.token })
        const [event] = E.isRight(beat) ? beat.right : []
        if (event?.type === 'LeaseExtended' && event.data.expiresAt > expiresAt) keep(event.data.expiresAt)
      }))
    }
    keep(lease.expiresAt)
  }

  private report({ task, token }: Lease, { end, random }: Attempt): void {
    const { queue, after, completed } = this.world
    const held = { task, agent: this.agent.name, token }
    const say = (command: Parameters<VirtualQueue['attempt']>[0]): E.Either<unknown, ReadonlyArray<QueueEvent>> => queue.attempt(command, random)
    switch (end.type) {
      case 'completed':
        if (E.isRight(say({ type: 'Complete', ...held, content: '{}', hasReport: true }))) completed(task)
        return
      case 'failed':
        return void say({ type: 'Fail', ...held, error: end.error, retryable: end.retryable })
      case 'released':
        return void say({ type: 'Release', ...held, reason: end.reason })
      case 'returned':
        return void say({ type: 'Release', ...held, reason: end.reason, stopping: true })
      case 'cancelled':
        return void say({ type: 'Cancel', task, reason: end.reason })
      case 'parked': {
        const isParked = E.isRight(say({ type: 'Park', ...held, ...end.park }))
        if (isParked && end.callbackAfterMs !== undefined) after(queue.at + end.callbackAfterMs, () => void queue.attempt({ type: 'Callback', callbackKey: end.park.callbackKey, content: '{}' }))
        return
      }
      case 'silent':
      case 'unknown':
        return
    }
  }

  private countPlaces(): void {
    const now = this.isThere ? this.agent.concurrency : this.running
    if (now !== this.places) this.world.observer.places(this.world.queue.at, this.pool, now - this.places)
    this.places = now
  }
}

/** Whether the agent sends nothing more, so that the lease ends. An agent whose attempt ran too long still sent heartbeats. */
const isSilent = (end: Attempt['end']): boolean => end.type === 'silent' && end.cause !== 'ran-too-long'

/**
 * When the next heartbeat is due. It keeps the lease until the report, or until the instant at which a silent attempt ended in reality. `undefined`
 * for none.
 */
const beatAt = ({ end }: Attempt, endsAt: number, expiresAt: number, leaseMs: number): number | undefined => {
  const usual = Math.floor(expiresAt - leaseMs / 3)
  if (!isSilent(end)) return expiresAt <= endsAt ? usual : undefined
  if (expiresAt >= endsAt) return undefined
  return endsAt - leaseMs < expiresAt ? endsAt - leaseMs : usual
}

class ReplayClaim implements VirtualClaim {
  constructor(
    readonly command: CommandOf<'Claim'>,
    readonly take: VirtualClaim['take'],
    readonly leaseFor: NonNullable<VirtualClaim['leaseFor']>,
  ) {}

  isOver(): boolean {
    return false
  }
}
