/**
 * How many lines may be written in a second: of one kind, and of all together. What is over that is counted by kind, so that the numbers of what was
 * written and of what was left out add up to all that happened.
 */

/** Lines a second. */
const linesPerKind = 10
const linesInAll = 200

interface Tally {
  second: number
  written: number
  leftOut: number
}

export class LineBudget {
  private readonly kinds = new Map<string, Tally>()
  private second = 0
  private written = 0

  /** Asks for one line at `now`, in milliseconds. Returns how many of its kind were left out since the last one; `undefined` if this one is left out, too. */
  take(kind: string, now: number): number | undefined {
    const second = Math.floor(now / 1_000)
    if (second !== this.second) [this.second, this.written] = [second, 0]
    const tally = this.kinds.get(kind) ?? { second, written: 0, leftOut: 0 }
    this.kinds.set(kind, tally)
    if (tally.second !== second) [tally.second, tally.written] = [second, 0]
    if (tally.written >= linesPerKind || this.written >= linesInAll) {
      tally.leftOut++
      return undefined
    }
    tally.written++
    this.written++
    const { leftOut } = tally
    tally.leftOut = 0
    return leftOut
  }

  /** The kinds of which some were left out, and of which nothing came in this second. They are forgotten: kinds that no longer occur take no memory. */
  settle(now: number): ReadonlyMap<string, number> {
    const second = Math.floor(now / 1_000)
    const told = new Map<string, number>()
    for (const [kind, tally] of this.kinds) {
      if (tally.second >= second) continue
      if (tally.leftOut > 0) told.set(kind, tally.leftOut)
      this.kinds.delete(kind)
    }
    return told
  }

  get isEmpty(): boolean {
    return this.kinds.size === 0
  }
}
