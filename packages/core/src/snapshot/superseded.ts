/** The numbers of the tasks whose rows in a base are out of date, because they changed or finished after it. */
import { NumberSet } from '../structures/number-set.js'

export class Superseded {
  private readonly numbers = new NumberSet()
  /** Those of the increment that is being read. They hold for its base, not for itself. */
  private own: Array<Float64Array> = []

  add(numbers: Float64Array): void {
    this.own.push(numbers)
  }

  /** Must be called before the pages of a base are read. */
  nextBase(): void {
    for (const numbers of this.own) this.numbers.addAll(numbers)
    this.own = []
  }

  has(number: number): boolean {
    return this.numbers.size > 0 && this.numbers.has(number)
  }
}
