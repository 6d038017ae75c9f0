/**
 * Fairness between processes that append to the same queue at the same time. The expected revision decides who
 * was first, and without more the quicker one would be so each time, while the other decides for nothing.
 *
 *   my turn       appends one after the other, until it has lasted; then a pause, in which others come in
 *   their turn    what they append is heard of; when it falls quiet it is my turn again
 *   came late     twice in a row: somebody does not know of me. Back at once with a small batch, which is decided sooner, and
 *                 when that is in, it is their turn
 *
 * A pause that nobody used is followed by a longer one; after that, turns are long, as for one who never heard of
 * anybody. Who has nothing to append needs no turn, so nobody waits for a process that is idle or gone for longer
 * than it takes to find out. Correctness rests on none of this.
 */

/** How long one process appends while another does as well, in milliseconds. */
const turnMs = 75
/** The same where nobody else is heard of: so many times the pause that follows, which costs no more than that. */
const alonePauses = 50
/** An append that took longer says nothing of how long the next will take, another's or ours. In milliseconds. */
const cycleMsMax = 30
/** Pauses that nobody used before one is alone again. */
const pausesMax = 2
/** Events of a batch that is to be in time, about. */
const smallBatch = 64

export class Turns {
  /** Pauses still to be made for others. */
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

  /** Events that the next batch may have. */
  get eventsMax(): number {
    return this.isLate ? smallBatch : Number.POSITIVE_INFINITY
  }

  /** How long it is the others' turn, as far as is known now, in milliseconds. */
  get waitMs(): number {
    return Math.max(0, this.until - this.now())
  }

  /** A batch is about to be decided. */
  begin(): void {
    this.began = this.now()
    if (this.began - this.wonAt >= this.pauseMs) this.turnBegan = this.began
  }

  /** It is in the log. */
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

  /** It is not: another was first. Whose turn it is may have been mistaken once; twice in a row, and they do not know of us. */
  lost(): void {
    const isMistake = this.pauses > 0 && !this.hasLost
    this.hasLost = true
    this.pauses = pausesMax
    this.isLate = !isMistake
    this.leftAt = this.now()
    this.until = isMistake ? this.leftAt + this.quietMs : 0
  }

  /** What another has appended was folded. */
  heard(): void {
    this.pauses = pausesMax
    const now = this.now()
    if (now < this.until) this.until = Math.min(now, this.leftAt + turnMs + this.quietMs) + this.quietMs
  }

  /** How long a pause of ours is, now: long enough for another to fold what it missed and to append. In milliseconds. */
  private get pauseMs(): number {
    return this.pauses === 0 ? 10 + 4 * this.quietMs : 2 * this.quietMs * 2 ** (pausesMax - this.pauses)
  }

  /** Nothing heard for so long: the other has stopped, if it is about as quick as we are. In milliseconds. */
  private get quietMs(): number {
    return 3 + 1.5 * this.cycleMs
  }
}
