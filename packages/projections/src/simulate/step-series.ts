/** A number that changes at instants, as its mean over pieces of time of equal length. */
export class StepSeries {
  private value = 0
  private last: number
  private readonly sums: Float64Array

  constructor(
    private readonly from: number,
    private readonly until: number,
    pieces: number,
  ) {
    this.last = from
    this.sums = new Float64Array(pieces)
  }

  /** Changes the number. `at` must not decrease. */
  change(at: number, by: number): void {
    this.passTo(at)
    this.value += by
  }

  /** The mean of each piece. Ends the series. */
  means(): ReadonlyArray<number> {
    this.passTo(this.until)
    return Array.from(this.sums, (sum) => sum / this.pieceMs)
  }

  private get pieceMs(): number {
    return (this.until - this.from) / this.sums.length
  }

  private passTo(at: number): void {
    const { from, sums, pieceMs, value } = this
    while (this.last < at) {
      const piece = Math.min(sums.length - 1, Math.floor((this.last - from) / pieceMs))
      const end = piece === sums.length - 1 ? at : Math.min(at, from + (piece + 1) * pieceMs)
      // The end of a piece need not be a whole number, and rounding must not let time stand still.
      const to = end > this.last ? end : at
      sums[piece] = (sums[piece] as number) + value * (to - this.last)
      this.last = to
    }
  }
}
