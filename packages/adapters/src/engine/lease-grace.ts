/**
 * When leases may be ended. A report counts by its arrival: one that came before the end of its lease must not find the lease
 * ended only because this server was busy, could not write, or was not there. So a lease is not ended
 *
 *   - while a command waits to be decided that came before the end of the lease;
 *   - for a while after this server held things up: at a start, after an append that failed, and when it finds a lease that ended
 *     some time ago and was not looked at then. Agents hand in again meanwhile what they could not;
 *   - at once where other servers decide on the same queue: their commands cannot be seen from here.
 *
 * All times are the queue's, in milliseconds since 1970.
 */

/** A lease that is found to have ended longer ago than this was not looked at in time. */
const lateMs = 50
/** How much later than at its end a lease is ended where others write to the queue, too. */
const othersMs = 500

export const leaseGraceMsDefault = 10_000

export class LeaseGrace {
  /** When the grace is over, by the monotonic clock: a wall clock that is wrong for a moment must not make it longer. */
  private until: number
  private isOn = true
  /** Leases that ended by this time have had their grace. */
  private hadBy = Number.NEGATIVE_INFINITY

  constructor(
    /** How long agents are waited for after a start or a failed append: an agent tries again within ten seconds. 0 for not at all. */
    private readonly graceMs: number,
    private readonly isShared: boolean,
    private readonly monotonic: () => number,
  ) {
    this.until = monotonic() + graceMs
  }

  /** Reports may have been refused, or lost, until now. */
  begin(ms = this.graceMs): void {
    this.until = Math.max(this.until, this.monotonic() + ms)
    this.isOn = true
  }

  /** Leases that end after this go on. `firstEnd`: of all leases; `oldest`: when the oldest command came that is not decided yet. */
  endsUntil(now: number, firstEnd: number | undefined, oldest: number): number {
    if (firstEnd === undefined || firstEnd > now) return now
    if (this.isOn) {
      const overForMs = this.monotonic() - this.until
      if (overForMs < 0) return 0
      this.isOn = false
      this.hadBy = now - overForMs
    }
    const late = now - firstEnd - this.delayMs
    if (late > lateMs && firstEnd > this.hadBy && this.graceMs > 0) {
      this.begin(Math.min(this.graceMs, Math.max(this.graceMs / 10, late)))
      return 0
    }
    return Math.min(now - this.delayMs, oldest)
  }

  /** When a lease that ends then may be ended. */
  dueAt(leaseEnd: number, now: number): number {
    const graceLeftMs = this.isOn ? Math.max(0, this.until - this.monotonic()) : 0
    return graceLeftMs > 0 ? Math.max(leaseEnd + this.delayMs, now + graceLeftMs) : leaseEnd + this.delayMs
  }

  private get delayMs(): number {
    return this.isShared && this.graceMs > 0 ? othersMs : 0
  }
}
