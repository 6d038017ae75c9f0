/**
 * A queue in virtual time: the core's decisions and fold, the ticks that the engine would issue, and the engine's lines of waiting claims. Nothing is
 * stored.
 */
import {
  activeAgentsOf,
  type ClaimShape,
  type Command,
  type CommandOf,
  decide,
  evolve,
  forget,
  holdBack,
  initial,
  keepShape,
  nextDue,
  nextForgotten,
  type QueueEvent,
  type QueueState,
  type Rejection,
  servedOf,
  takeWokenShapes,
  type WaitingClaim,
  WaitingClaims,
} from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'

/** A claim of one task. */
export interface VirtualClaim extends WaitingClaim {
  /** The command at this time. */
  readonly command: CommandOf<'Claim'>
  /** Called when the claim gets the task of this event. */
  readonly take: (lease: { readonly task: string; readonly token: number; readonly expiresAt: number }) => void
  /** The length of this task's lease in seconds, if it is to be shorter than the task allows. */
  readonly leaseFor?: (task: string) => number | undefined
}

const forgottenAtATime = 10_000

export class VirtualQueue {
  private readonly waiting = new WaitingClaims<VirtualClaim>()

  constructor(
    /** The time now, in milliseconds since 1970. */
    public at: number,
    private readonly observe: (event: QueueEvent) => void,
    private readonly random: () => number,
    private state: QueueState = initial('simulation'),
  ) {}

  /** When the queue next changes by itself; infinity for never. */
  get dueAt(): number {
    return Math.min(nextDue(this.state) ?? Number.POSITIVE_INFINITY, this.waiting.nextLook)
  }

  /** Ends what is due: leases, delays, breakers, limits. */
  tick(): void {
    while ((nextDue(this.state) ?? Number.POSITIVE_INFINITY) <= this.at) {
      if (this.do({ type: 'Tick' }).length === 0) throw new Error(`something is due at ${this.at}, and a tick does nothing`)
    }
    if ((nextForgotten(this.state) ?? Number.POSITIVE_INFINITY) <= this.at) this.state = forget(this.state, this.at, forgottenAtATime)
  }

  /** @throws if the queue refuses the command. The commands of a simulation always fit. */
  do(command: Command, random = this.random()): ReadonlyArray<QueueEvent> {
    const decision = this.attempt(command, random)
    if (E.isLeft(decision)) throw new Error(`${command.type} was refused: ${decision.left.detail}`)
    return decision.right
  }

  /** The events of the command, or the queue's refusal. */
  attempt(command: Command, random = this.random()): E.Either<Rejection, ReadonlyArray<QueueEvent>> {
    const decision = decide(command, { at: this.at, random })(this.state)
    if (E.isLeft(decision)) return decision
    for (const event of decision.right) {
      this.state = evolve(this.state, event)
      this.observe(event)
    }
    return decision
  }

  /** Takes a task at once, or waits for one. Claims that have waited longer come first, so `serve` must be called before. */
  claim(claim: VirtualClaim): void {
    const shape = keepShape(this.state, claim.command, this.at)
    if (this.tryClaim(claim, shape)) return
    this.waiting.add(claim, shape)
    this.stillWaits(claim, shape)
  }

  /** Removes the claim, if it waits. */
  leave(claim: VirtualClaim): void {
    this.waiting.remove(claim)
  }

  /** Offers ready tasks to the waiting claims. */
  serve(): void {
    const { waiting } = this
    if (waiting.size === 0) return
    waiting.passTime(this.at)
    for (;;) {
      waiting.wake(takeWokenShapes(this.state))
      if (!waiting.isOfferDue) return
      const offer = (claim: VirtualClaim, shape: ClaimShape): 'served' | 'empty' => {
        if (this.tryClaim(claim, shape)) return 'served'
        this.stillWaits(claim, shape)
        return 'empty'
      }
      waiting.offer(offer, (shape) => servedOf(this.state, shape), () => activeAgentsOf(this.state))
    }
  }

  private tryClaim(claim: VirtualClaim, shape: ClaimShape): boolean {
    if (!shape.hasWork) return false
    const [event] = this.do(this.commandOf(claim))
    if (event?.type !== 'Claimed') return false
    claim.take(event.data)
    return true
  }

  /** A decision changes nothing, so it tells which task the claim gets before the length of the lease is set. */
  private commandOf(claim: VirtualClaim): CommandOf<'Claim'> {
    const { command, leaseFor } = claim
    if (leaseFor === undefined) return command
    const decision = decide(command, { at: this.at, random: 0 })(this.state)
    const [event] = E.isRight(decision) ? decision.right : []
    const leaseSeconds = event?.type === 'Claimed' ? leaseFor(event.data.task) : undefined
    return leaseSeconds === undefined ? command : { ...command, leaseSeconds }
  }

  private stillWaits({ command }: VirtualClaim, shape: ClaimShape): void {
    const until = shape.hasWork ? holdBack(this.state, command, shape, this.at) : undefined
    if (until !== undefined) this.waiting.lookAgain(shape, until)
  }
}
