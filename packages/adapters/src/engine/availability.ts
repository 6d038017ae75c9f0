/** Whether the store works, as far as the engine knows; and when it is tried again unasked. */

/** How long a store is left alone that could not write, in milliseconds. */
const retryMs = 1_000
/** How long a refused write speaks against the store: whoever watches readiness must come back to find out. */
const rememberedMs = 5_000

export class Availability {
  private why: string | undefined
  private since = 0
  private isDoubted = false
  private notBefore = 0

  constructor(private readonly clock: () => number) {}

  /** Why commands are refused, or wait; `undefined` when they are not. */
  get reason(): string | undefined {
    const age = this.clock() - this.since
    if (!this.isDoubted && (age < 0 || age > rememberedMs)) return undefined
    return this.why
  }

  /** The store failed: nothing is asked of it for a while, but what callers ask. */
  lost(reason: string): void {
    this.why = reason
    this.since = this.clock()
    this.isDoubted = false
    this.notBefore = this.clock() + retryMs
  }

  /** It is not known whether it failed; that is being found out. */
  doubted(reason: string): void {
    this.why = reason
    this.isDoubted = true
  }

  restored(): void {
    this.why = undefined
    this.isDoubted = false
  }

  /** When the store may be tried again without being asked to. A clock that was set back must not put that off. */
  resumeAt(): number {
    if (this.notBefore - this.clock() > retryMs) this.notBefore = 0
    return this.notBefore
  }
}
