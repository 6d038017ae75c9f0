/**
 * Decides when leases may be ended. A report counts by its arrival: if it arrived before the end of its lease, the lease must not end only because
 * this server was busy, could not write, or was down. So a lease is not ended
 *
 *   - while a command that arrived before the end of the lease waits to be decided;
 *   - during a grace period after this server caused a delay: after a start, after a failed append, when its clock is no longer refused, and when it
 *     finds a lease whose end went unnoticed for some time. Meanwhile agents repeat reports that they could not deliver;
 *   - for half a second after its end, if other servers decide on the same queue: reports that they have received are not known here.
 *
 * Times of leases and commands are in the queue's time, in milliseconds since 1970. The grace period is measured by the monotonic clock.
 */

/** If a lease ended longer ago than this, its end went unnoticed. In milliseconds. */
const lateMs = 50
/** How much later leases are ended on a shared store, in milliseconds. */
const othersMs = 500

export const leaseGraceMsDefault = 10_000

export class LeaseGrace {
  /** End of the grace period, by the monotonic clock, so that a temporarily wrong wall clock does not make it longer. */
  private until: number
  private isOn = true
  /** Leases that ended at or before this time have had their grace period. */
  private hadBy = Number.NEGATIVE_INFINITY

  constructor(
    /** Length of the grace period after a start, a failed append or a refused clock, in milliseconds; agents retry within ten seconds. 0 for none. */
    private readonly graceMs: number,
    private readonly isShared: boolean,
    private readonly monotonic: () => number,
  ) {
    this.until = monotonic() + graceMs
  }

  /** Begins a grace period, because reports may have been refused or lost until now. */
  begin(ms = this.graceMs): void {
    this.until = Math.max(this.until, this.monotonic() + ms)
    this.isOn = true
  }

  /**
   * Leases that end after the returned time are not ended yet. `firstEnd`: the earliest end of all leases. `oldest`: the arrival of the oldest
   * undecided command.
   */
  endsUntil(now: number, firstEnd: number | undefined, oldest: number): number {
    if (firstEnd === undefined || firstEnd > now) return now
    if (this.isOn) {
      const overForMs = this.monotonic() - this.until
      if (overForMs < 0) return 0
      this.isOn = false
      this.hadBy = now - overForMs
    }
    // Those that ended later come next: perhaps their end went unnoticed.
    if (firstEnd <= this.hadBy) return Math.min(this.hadBy, now - this.delayMs, oldest)
    const late = now - firstEnd - this.delayMs
    if (late > lateMs && this.graceMs > 0) {
      this.begin(Math.min(this.graceMs, Math.max(this.graceMs / 10, late)))
      return 0
    }
    return Math.min(now - this.delayMs, oldest)
  }

  /** When a lease that ends at `leaseEnd` may be ended. */
  dueAt(leaseEnd: number, now: number): number {
    const graceLeftMs = this.isOn ? Math.max(0, this.until - this.monotonic()) : 0
    return graceLeftMs > 0 ? Math.max(leaseEnd + this.delayMs, now + graceLeftMs) : leaseEnd + this.delayMs
  }

  private get delayMs(): number {
    return this.isShared && this.graceMs > 0 ? othersMs : 0
  }
}
