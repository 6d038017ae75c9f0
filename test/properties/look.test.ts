/** The checkers' comparison agrees with `isDeepStrictEqual`. */
import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { same } from './look.js'
import { runs } from './settings.js'

const isSame = (a: unknown, b: unknown): boolean => {
  try {
    same(a, b, 'a value')
    return true
  } catch {
    return false
  }
}

const value = fc.anything({ withSet: true, withMap: true, withDate: true, withNullPrototype: true })
/** A value, and what it becomes when one of its parts is replaced. */
const changed = fc.tuple(fc.dictionary(fc.constantFrom('a', 'b', 'c'), value, { minKeys: 1 }), fc.constantFrom('a', 'b', 'c', 'd'), value).map(
  ([object, name, part]) => [[object], [{ ...object, [name]: part }]] as const,
)

test('a comparison of two values says what isDeepStrictEqual says', () => {
  const pairs = fc.oneof(fc.tuple(value, value), fc.clone(value, 2), changed)
  fc.assert(
    fc.property(pairs, ([a, b]) => {
      expect(isSame(a, b)).toBe(isDeepStrictEqual(a, b))
    }),
    runs(2_000),
  )
})

test.each([
  ['a missing member and one that is undefined', { a: 1 }, { a: 1, b: undefined }],
  ['members of other names', { a: undefined }, { b: undefined }],
  ['lists of other lengths', [1, 2], [1, 2, undefined]],
  ['a list and an object', [1], { 0: 1 }],
  ['0 and -0', [0], [-0]],
])('%s differ', (_, a, b) => {
  expect([isSame(a, b), isSame(b, a)]).toEqual([false, false])
})
