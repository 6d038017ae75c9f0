/** Whether the store works, as far as the engine knows; and when it is tried again unasked. */

/** How long a store is left alone that could not write, in milliseconds. */
const retryMs = 1_000
/** How long a refused write speaks against the store: whoever watches readiness must come back to find out. */
const rememberedMs = 5_000

export class Availability {
  private why: string | undefined
  private since = Number.NEGATIVE_INFINITY
  private isDoubted = false

  /** `monotonic`: milliseconds by a clock that nobody sets. */
  constructor(private readonly monotonic: () => number) {}

  /** Why commands are refused, or wait; `undefined` when they are not. */
  get reason(): string | undefined {
    return this.isDoubted || this.monotonic() - this.since <= rememberedMs ? this.why : undefined
  }

  /** The store failed: nothing is asked of it for a while, but what callers ask. */
  lost(reason: string): void {
    this.why = reason
    this.isDoubted = false
    this.since = this.monotonic()
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

  /** How long the store is still left alone by those whom nobody asks, in milliseconds; 0 when it may be tried. */
  resumeInMs(): number {
    return Math.max(0, this.since + retryMs - this.monotonic())
  }
}
