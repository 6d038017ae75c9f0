/** Whether the store works, as far as the engine knows, and when the engine tries it again by itself. */

/** Pause after a failed write before the engine tries again by itself, in milliseconds. */
const retryMs = 1_000
/** How long a refused write makes the queue unavailable. After that, load balancers send requests again, which shows whether the store works. */
const rememberedMs = 5_000
/** A failure that lasts is logged again after this time, in milliseconds. */
const loggedEveryMs = 60_000

export class Availability {
  private why: string | undefined
  private since = Number.NEGATIVE_INFINITY
  private isDoubted = false
  private isWaitOver = false
  /** When the present failure was logged; `undefined` if there is none. */
  private loggedAt: number | undefined

  /** `monotonic`: returns milliseconds of a monotonic clock. */
  constructor(
    private readonly monotonic: () => number,
    private readonly warn: (message: string) => void,
  ) {}

  /** Why commands are refused or wait; `undefined` if they are not. */
  get reason(): string | undefined {
    return this.isDoubted || this.monotonic() - this.since <= rememberedMs ? this.why : undefined
  }

  /** The store has failed: for a while only commands of callers try it. */
  lost(reason: string): void {
    this.why = reason
    this.isDoubted = this.isWaitOver = false
    this.since = this.monotonic()
    if (this.loggedAt !== undefined && this.since - this.loggedAt < loggedEveryMs) return
    this.loggedAt = this.since
    this.warn(`commands are refused: ${reason}`)
  }

  /** It is not known whether an append succeeded: this is being found out, or the store takes long to answer. */
  doubted(reason: string): void {
    this.why = reason
    this.isDoubted = true
  }

  /** Finding it out takes long: nothing more may wait for it. */
  endWait(): void {
    this.isWaitOver = this.isDoubted
  }

  /** Why commands and questions are refused before they are decided; `undefined` if they may wait. */
  get refusal(): string | undefined {
    return this.isWaitOver ? this.why : undefined
  }

  restored(): void {
    this.why = undefined
    this.isDoubted = this.isWaitOver = false
    if (this.loggedAt === undefined) return
    this.loggedAt = undefined
    this.warn('commands are taken again')
  }

  /** Time until the engine may try the store again by itself, in milliseconds; 0 if it may now. */
  resumeInMs(): number {
    return Math.max(0, this.since + retryMs - this.monotonic())
  }
}
