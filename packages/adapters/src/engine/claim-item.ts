/** A claim on its way through the engine: the promise of its caller, how long that is patient, and how it gives up. */
import type { CommandOf } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import { longTimer } from '../long-timer.js'
import type { ClaimItem } from './batch.js'
import type { Claim, ClaimOptions, Caller, Outcome } from './types.js'

export interface ClaimHost {
  readonly answer: (outcome: Outcome<ReadonlyArray<Claim>>) => void
  /** The last durable revision. */
  readonly revision: () => number
  /** The claim is over, and may stand in line still. */
  readonly leaveLine: () => void
}

export class PatientClaim implements ClaimItem {
  readonly kind = 'claim'
  readonly mayWait: boolean
  private over = false
  private readonly askedAt = performance.now()
  /** Work was found, and is being written. */
  private grantedAt: number | undefined
  private gaveUp = false
  private stopWaiting: () => void = () => undefined
  private readonly signal: AbortSignal | undefined

  /** Over at once when the signal is aborted already. */
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
      if (this.mayWait) this.stopWaiting = longTimer(waitMs, this.giveUp)
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
    // Once work was found for it, a claim is answered with that work, whatever its patience.
    if (this.over || this.grantedAt !== undefined) return
    this.settleEmpty()
    this.host.leaveLine()
  }

  private settleEmpty(): void {
    this.settle(E.right({ value: [], revision: this.host.revision() }))
  }
}
