/** EV-05: quantiles from sketches differ by at most 1 % from the exact ones, and sketches can be added up. */
import { addSketchText, addTime, Distribution, intervalOf, relativeError, type Sketch, sketchText } from '@daybook/projections/reports'
import fc from 'fast-check'
import { expect, test } from 'vitest'

const sketchOf = (times: ReadonlyArray<number>): Sketch => {
  const sketch: Sketch = new Map()
  for (const time of times) addTime(sketch, intervalOf(time))
  return sketch
}
/** Read from its text, as reports do. */
const quantilesOf = (sketch: Sketch, shares: ReadonlyArray<number>): ReadonlyArray<number> | undefined => {
  const distribution = new Distribution()
  distribution.addText(sketchText(sketch))
  return distribution.quantiles(shares)
}
/** From milliseconds to years. */
const time = fc.oneof(fc.nat(300), fc.nat(100_000), fc.nat(10_000_000), fc.integer({ min: 0, max: 10 * 365 * 86_400_000 }))
const times = fc.array(time, { minLength: 1, maxLength: 200 })
const shares = [0.001, 0.25, 0.5, 0.95, 0.99, 1]

test('EV-05: every quantile is within 1 % of the time of its rank', () => {
  fc.assert(
    fc.property(times, (list) => {
      const sorted = [...list].sort((a, b) => a - b)
      const found = quantilesOf(sketchOf(list), shares) ?? []
      shares.forEach((share, i) => {
        const exact = sorted[Math.max(1, Math.ceil(share * list.length)) - 1] as number
        expect(Math.abs((found[i] as number) - exact)).toBeLessThanOrEqual(relativeError * exact)
      })
    }),
    { numRuns: 2_000 },
  )
})

test('EV-05: a time alone is told within 1 %, and exactly below 100 ms', () => {
  for (let ms = 0; ms < 2_000_000; ms = ms < 20_000 ? ms + 1 : Math.floor(ms * 1.0007)) {
    const [told = NaN] = quantilesOf(sketchOf([ms]), [0.5]) ?? []
    expect(Math.abs(told - ms), `${ms}`).toBeLessThanOrEqual(ms < 100 ? 0 : relativeError * ms)
  }
})

test('EV-05: sketches add up to the sketch of all, also as texts', () => {
  fc.assert(
    fc.property(times, times, (some, more) => {
      const whole = sketchText(sketchOf([...some, ...more]))
      const read: Sketch = new Map()
      addSketchText(read, sketchText(sketchOf(more)))
      addSketchText(read, sketchText(sketchOf(some)))
      expect(sketchText(read)).toBe(whole)
      const both = new Distribution()
      both.addText(sketchText(sketchOf(some)))
      both.addText(sketchText(sketchOf(more)))
      expect(both.count).toBe(some.length + more.length)
      expect(both.quantiles(shares)).toEqual(quantilesOf(sketchOf([...some, ...more]), shares))
    }),
  )
})

test('EV-05: nothing counted has no quantiles; a time that cannot be counts as one that can', () => {
  expect(quantilesOf(new Map(), [0.5])).toBeUndefined()
  expect(intervalOf(-5)).toBe(0)
  expect(quantilesOf(sketchOf([Number.MAX_SAFE_INTEGER]), [1])?.[0]).toBeGreaterThan(2 ** 44)
})
