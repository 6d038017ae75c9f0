/** Lists in input from outside: refused after a hundred invalid items, and otherwise like any list. */
import { fieldErrorsOf, listOf } from '@daybook/core'
import fc from 'fast-check'
import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { expect, test } from 'vitest'

const item = t.intersection([t.type({ name: t.string }), t.partial({ count: t.number })])
const [bounded, plain] = [listOf(item), t.readonlyArray(item)]

test('a list accepts what a plain one accepts, and names the same fields up to the hundredth invalid item', () => {
  const items = fc.array(fc.oneof(fc.record({ name: fc.string(), count: fc.integer() }), fc.constant({ name: 1 }), fc.constant(null)), { maxLength: 300, size: 'max' })
  fc.assert(
    fc.property(fc.oneof(items, fc.constantFrom(null, 'no list', { length: 2 })), (input) => {
      expect(bounded.is(input)).toBe(plain.is(input))
      const [found, all] = [bounded.decode(input), plain.decode(input)]
      expect(E.isRight(found)).toBe(E.isRight(all))
      if (E.isRight(found) || E.isRight(all)) {
        expect(found).toEqual(all)
        return
      }
      const [some, every] = [fieldErrorsOf(found.left), fieldErrorsOf(all.left)]
      expect(some).toEqual(every.slice(0, some.length))
      const invalid = new Set(some.map(({ path }) => /^\[\d+\]/.exec(path)?.[0]))
      expect(every.length > some.length ? invalid.size : 100).toBe(100)
    }),
  )
})

test('nothing is checked after the hundredth invalid item', () => {
  let looks = 0
  const counted = new t.Type<string, string, unknown>('text', (input): input is string => (looks++, typeof input === 'string'), (input, context) => (looks++, t.failure(input, context)), String)
  const found = listOf(counted).decode(Array.from({ length: 100_000 }, (_, i) => i))
  expect(E.isLeft(found) ? found.left.length : 0).toBe(100)
  expect(looks).toBe(200)
})
