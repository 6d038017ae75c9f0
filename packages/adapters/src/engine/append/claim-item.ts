/** A claim in the engine: its caller's promise, its waiting time, and its cancellation. */
import type { CommandOf } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import type { ClaimItem } from './batch.js'
import type { Timers } from '../time/timers.js'
import type { Claim, ClaimOptions, Caller, Outcome } from '../types.js'

export interface ClaimHost {
  readonly answer: (outcome: Outcome<ReadonlyArray<Claim>>) => void
  /** The last durable revision. */
  readonly revision: () => number
  readonly timers: Timers
  /** The claim is over, and may still be in a line of waiting claims. */
  readonly leaveLine: () => void
}

export class PatientClaim implements ClaimItem {
  readonly kind = 'claim'
  readonly mayWait: boolean
  private over = false
  private readonly askedAt = performance.now()
  /** When tasks were found for it; their claim is being appended. */
  private grantedAt: number | undefined
  private gaveUp = false
  private stopWaiting: () => void = () => undefined
  private readonly signal: AbortSignal | undefined

  /** The claim is over at once if the signal is already aborted. */
  constructor(
    readonly command: CommandOf<'Claim'>,
    readonly caller: Caller,
    readonly arrivedAt: number,
    { waitMs = 0, signal }: ClaimOptions,
    private readonly host: ClaimHost,
  ) {
    this.mayWait = waitMs > 0
    this.signal = signal
    if (signal?.aborted === true) this.settleEmpty()
    else {
      if (this.mayWait) this.stopWaiting = host.timers(waitMs, this.giveUp)
      signal?.addEventListener('abort', this.giveUp, { once: true })
    }
  }

  isOver(): boolean {
    return this.over
  }

  take(grantedAt: number): void {
    this.grantedAt = grantedAt
  }

  untake(): void {
    this.grantedAt = undefined
    if (this.gaveUp) this.giveUp()
  }

  settle(outcome: Outcome<ReadonlyArray<Claim>>): void {
    this.over = true
    if (this.grantedAt !== undefined && E.isRight(outcome)) {
      for (const claim of outcome.right.value) claim.waitedMs = this.grantedAt - this.askedAt
    }
    this.stopWaiting()
    this.signal?.removeEventListener('abort', this.giveUp)
    this.host.answer(outcome)
  }

  private readonly giveUp = (): void => {
    this.gaveUp = true
    // If tasks were found, the claim is answered with them, even if its time is over.
    if (this.over || this.grantedAt !== undefined) return
    this.settleEmpty()
    this.host.leaveLine()
  }

  private settleEmpty(): void {
    this.settle(E.right({ value: [], revision: this.host.revision() }))
  }
}
