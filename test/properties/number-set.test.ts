/** The set of numbers behind the lists by status, compared with a plain set. */
import { NumberSet } from '@daybook/core/testing'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from './settings.js'

/** Close together, on the edges of words and blocks, and far apart. */
const numbers = fc.oneof(
  { weight: 4, arbitrary: fc.nat({ max: 1_200 }) },
  { weight: 2, arbitrary: fc.constantFrom(0, 31, 32, 63, 511, 512, 1_023, 1_024, 5_119, 5_120) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 40 }).map((block) => block * 700) },
  { weight: 1, arbitrary: fc.maxSafeNat() },
)
const doings = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ do: fc.constant('add' as const), number: numbers }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('remove' as const), number: numbers }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('all' as const), numbers: fc.array(numbers, { maxLength: 300, size: 'max' }) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('range' as const), number: fc.nat({ max: 30_000 }), count: fc.integer({ min: 1, max: 1_500 }) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('drop' as const), number: fc.nat({ max: 30_000 }), count: fc.integer({ min: 1, max: 20_000 }) }) },
  ),
  { maxLength: 60, size: 'max' },
)
type Doing = typeof doings extends fc.Arbitrary<infer A> ? (A extends ReadonlyArray<infer D> ? D : never) : never

const numbersOf = (doing: Exclude<Doing, { do: 'all' }>): ReadonlyArray<number> =>
  'count' in doing ? Array.from({ length: doing.count }, (_, i) => doing.number + i) : [doing.number]

const run = (set: NumberSet, list: ReadonlyArray<Doing>): void => {
  const plain = new Set<number>()
  for (const doing of list) {
    if (doing.do === 'all') {
      set.addAll(Float64Array.from(doing.numbers))
      for (const number of doing.numbers) plain.add(number)
      expect(set.size).toBe(plain.size)
      continue
    }
    const isAdding = doing.do === 'add' || doing.do === 'range'
    for (const number of numbersOf(doing)) {
      const changes = plain.has(number) !== isAdding
      if (isAdding) plain.add(number)
      else plain.delete(number)
      if ((isAdding ? set.add(number) : set.remove(number)) !== changes) throw new Error(`${doing.do} ${number} did not say ${changes}`)
    }
    expect(set.size).toBe(plain.size)
  }
  const inOrder = [...plain].sort((a, b) => a - b)
  expect([...set]).toEqual(inOrder)
  for (const place of [0, 1, 32, 511, 513, 2_000, 29_999, 2 ** 40, ...inOrder.slice(0, 20).map((number) => number + 1)]) {
    expect(set.from(place)).toBe(inOrder.find((number) => number >= place))
    expect(set.has(place)).toBe(plain.has(place))
  }
}

test('a set of numbers contains, finds and walks the same as a plain set, in order', () => {
  fc.assert(fc.property(doings, (list) => run(new NumberSet(), list)), runs(60))
})

test.each(['one by one', 'together'])('INV-22: numbers far apart, and blocks that have become empty, are not kept: added %s', (how) => {
  const set = new NumberSet()
  const isTogether = how === 'together'
  if (isTogether) set.addAll(Float64Array.from({ length: 200_000 }, (_, i) => i))
  for (let number = 0; number < 200_000; number++) {
    if (!isTogether) set.add(number)
    if (number >= 1_000) set.remove(number - 1_000)
  }
  expect([set.size, set.blocksKept < 40]).toEqual([1_000, true])
})

test('teeth: a set that forgets the last number of a word is caught', () => {
  class Forgetful extends NumberSet {
    override from(number: number): number | undefined {
      const found = super.from(number)
      return found !== undefined && found % 32 === 31 ? super.from(found + 1) : found
    }
  }
  expect(fc.check(fc.property(doings, (list) => run(new Forgetful(), list)), { ...runs(60), endOnFailure: true }).failed).toBe(true)
})
