/**
 * A queue in virtual time: the core's decisions and fold, with the ticks that the engine issues, and claims that wait in the engine's
 * lines. Nothing is stored.
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
  servedOf,
  takeWokenShapes,
  type WaitingClaim,
  WaitingClaims,
} from '@daybook/core'

/** Asks for one task. */
export interface VirtualClaim extends WaitingClaim {
  /** The command at this time. */
  readonly command: CommandOf<'Claim'>
  /** Got the task of this event. */
  readonly take: (lease: { readonly task: string; readonly token: number }) => void
}

const forgottenAtATime = 10_000

export class VirtualQueue {
  private state = initial('simulation')
  private readonly waiting = new WaitingClaims<VirtualClaim>()

  constructor(
    /** The time now, in milliseconds since 1970. */
    public at: number,
    private readonly observe: (event: QueueEvent) => void,
    private readonly random: () => number,
  ) {}

  /** When something happens by itself; infinity for never. */
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

  /** @throws if the queue refuses the command: those of a simulation always fit. */
  do(command: Command, random = this.random()): ReadonlyArray<QueueEvent> {
    const decision = decide(command, { at: this.at, random })(this.state)
    if (decision._tag === 'Left') throw new Error(`${command.type} was refused: ${decision.left.detail}`)
    for (const event of decision.right) {
      this.state = evolve(this.state, event)
      this.observe(event)
    }
    return decision.right
  }

  /** Takes a task at once, or waits for one. Claims that have waited longer come first: `serve` has to be called before. */
  claim(claim: VirtualClaim): void {
    const shape = keepShape(this.state, claim.command, this.at)
    if (this.tryClaim(claim, shape)) return
    this.waiting.add(claim, shape)
    this.stillWaits(claim, shape)
  }

  /** The claim no longer waits, if it did. */
  leave(claim: VirtualClaim): void {
    this.waiting.remove(claim)
  }

  /** Offers what is ready to the claims that wait. */
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
    const [event] = this.do(claim.command)
    if (event?.type !== 'Claimed') return false
    claim.take(event.data)
    return true
  }

  private stillWaits({ command }: VirtualClaim, shape: ClaimShape): void {
    const until = shape.hasWork ? holdBack(this.state, command, shape, this.at) : undefined
    if (until !== undefined) this.waiting.lookAgain(shape, until)
  }
}
