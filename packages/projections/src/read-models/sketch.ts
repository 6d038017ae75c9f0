/**
 * Quantiles of times, from counts that can be summed.
 *
 * A sketch counts how many times fell into each of fixed intervals, whose ends grow by 2 %. This is the logarithmic histogram of DDSketch (Masson,
 * Rim and Lee, "DDSketch: a fast and fully-mergeable quantile sketch with relative-error guarantees", VLDB 2019, https://arxiv.org/abs/1908.10693),
 * with γ = 1.02. The ends are whole milliseconds, so that every machine has the same intervals. Two sketches are merged by adding their counts, and
 * nothing is lost by that.
 *
 * Interval `i` has the whole numbers above `ends[i - 1]`, up to `ends[i]`. The middle of its first and last number represents it. Below 100 ms each
 * interval has one number, so quantiles are exact. Above, with `u = ends[i - 1]`, the first number is `u + 1` and the last at most `1.02 u`. So the
 * middle differs from any of them by at most `(0.02 u - 1) / 2`, which is less than 1 % of the first.
 */

/** The largest relative error of a quantile. */
export const relativeError = 0.01

/** More than a thousand years. Longer times count as this. */
const longest = 2 ** 45

/** The last whole millisecond of each interval. */
export const ends: Float64Array = (() => {
  const found = [0]
  for (let end = 0; end < longest; found.push(end)) end = Math.max(end + 1, Math.floor((end * 102) / 100))
  return Float64Array.from(found)
})()

/** The index of the interval of a time in whole milliseconds. A negative time counts as 0. */
export const intervalOf = (ms: number): number => {
  if (ms <= 0) return 0
  if (ms <= 100) return ms
  let low = 100
  let high = ends.length - 1
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((ends[middle] as number) < ms) low = middle + 1
    else high = middle
  }
  return low
}

/** How many times fell into each interval. */
export type Sketch = Map<number, number>

export const addTime = (sketch: Sketch, interval: number, count = 1): void => void sketch.set(interval, (sketch.get(interval) ?? 0) + count)

/** A JSON list: interval, count, interval, count, …, the intervals in order. */
export const sketchText = (sketch: Sketch): string => JSON.stringify([...sketch].sort(([a], [b]) => a - b).flat())

/** Adds what {@link sketchText} wrote. */
export const addSketchText = (sketch: Sketch, text: string): void => {
  if (text === '[]') return
  const numbers = JSON.parse(text) as ReadonlyArray<number>
  for (let i = 0; i + 1 < numbers.length; i += 2) addTime(sketch, numbers[i] as number, numbers[i + 1] as number)
}
