/**
 * Fairness between processes that append to the same queue at the same time. With the expected revision alone, the faster process would always be
 * first, and the other would decide in vain.
 *
 *   own turn      appends one batch after the other for `turnMs`; then a pause, in which others can append
 *   their turn    follows what others append; when no more events come, the own turn begins again
 *   conflicts     two in a row mean that the others do not know of this process: it retries at once with a small batch,
 *                 which is decided faster; when that is appended, it is their turn
 *
 * A pause that nobody uses is followed by a longer one; after that, turns are long, as if no other process were known. A process without work needs
 * no turn, so nobody waits long for a process that is idle or gone. Correctness does not depend on any of this.
 */

/** Length of a turn while another process appends as well, in milliseconds. */
const turnMs = 75
/** Length of a turn while no other process is known, as a multiple of the pause after it. */
const alonePauses = 50
/** A longer append is an outlier that is not used to predict the next ones. In milliseconds. */
const cycleMsMax = 30
/** Number of unused pauses after which the process counts as alone. */
const pausesMax = 2
/** Approximate number of events of a small batch. */
const smallBatch = 64

export class Turns {
  /** Number of pauses that are still to be made for others. */
  private pauses = 0
  private isLate = false
  private hasLost = false
  private began = 0
  private wonAt = Number.NEGATIVE_INFINITY
  private turnBegan = 0
  private leftAt = 0
  private until = 0
  private cycleMs = 1

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** The largest number of events in the next batch. */
  get eventsMax(): number {
    return this.isLate ? smallBatch : Number.POSITIVE_INFINITY
  }

  /** The expected rest of the others' turn, in milliseconds. */
  get waitMs(): number {
    return Math.max(0, this.until - this.now())
  }

  /** Called before a batch is decided. */
  begin(): void {
    this.began = this.now()
    if (this.began - this.wonAt >= this.pauseMs) this.turnBegan = this.began
  }

  /** Called when a batch was appended. */
  won(): void {
    const now = this.now()
    this.wonAt = now
    this.cycleMs = Math.min(now - this.began, cycleMsMax)
    const { pauseMs } = this
    const lastsMs = this.pauses === 0 ? alonePauses * pauseMs : Math.max(turnMs, 3 * this.cycleMs)
    if (this.isLate || now - this.turnBegan >= lastsMs) {
      this.leftAt = now
      this.until = now + pauseMs
      this.pauses = Math.max(0, this.pauses - 1)
    }
    this.isLate = false
    this.hasLost = false
  }

  /** Called at a conflict. A single conflict may come from a wrong guess of whose turn it is. Two in a row mean that the others do not know of this process. */
  lost(): void {
    const isMistake = this.pauses > 0 && !this.hasLost
    this.hasLost = true
    this.pauses = pausesMax
    this.isLate = !isMistake
    this.leftAt = this.now()
    this.until = isMistake ? this.leftAt + this.quietMs : 0
  }

  /** Called when events of another process were folded. */
  heard(): void {
    this.pauses = pausesMax
    const now = this.now()
    if (now < this.until) this.until = Math.min(now, this.leftAt + turnMs + this.quietMs) + this.quietMs
  }

  /** Length of the next pause: long enough for another process to fold what it missed and to append. In milliseconds. */
  private get pauseMs(): number {
    return this.pauses === 0 ? 10 + 4 * this.quietMs : 2 * this.quietMs * 2 ** (pausesMax - this.pauses)
  }

  /** After this time without events, the other process has stopped, if it is about as fast as this one. In milliseconds. */
  private get quietMs(): number {
    return 3 + 1.5 * this.cycleMs
  }
}
