/** Lists and dictionaries in input from outside: refused after a hundred invalid items, and otherwise like any other. */
import { fieldErrorsOf, listOf, recordOf, validate } from '@daybook/core'
import fc from 'fast-check'
import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { expect, test, vi } from 'vitest'

const item = t.intersection([t.type({ name: t.string }), t.partial({ count: t.number })])
const [bounded, plain] = [listOf(item), t.readonlyArray(item)]

/** `found` may end after the hundredth invalid item, and is `all` apart from that. `itemOf`: the item of a path. */
const checkDecoded = (found: t.Validation<unknown>, all: t.Validation<unknown>, itemOf: (path: string) => string | undefined): void => {
  if (E.isRight(found) || E.isRight(all)) {
    expect(found).toEqual(all)
    return
  }
  const [some, every] = [fieldErrorsOf(found.left), fieldErrorsOf(all.left)]
  expect(some).toEqual(every.slice(0, some.length))
  const invalid = new Set(some.map(({ path }) => itemOf(path)))
  expect(every.length > some.length ? invalid.size : 100).toBe(100)
}

test('a list accepts what a plain one accepts, and names the same fields up to the hundredth invalid item', () => {
  const items = fc.array(fc.oneof(fc.record({ name: fc.string(), count: fc.integer() }), fc.constant({ name: 1 }), fc.constant(null)), { maxLength: 300, size: 'max' })
  fc.assert(
    fc.property(fc.oneof(items, fc.constantFrom(null, 'no list', { length: 2 })), (input) => {
      expect(bounded.is(input)).toBe(plain.is(input))
      checkDecoded(bounded.decode(input), plain.decode(input), (path) => /^\[\d+\]/.exec(path)?.[0])
    }),
  )
})

test('a dictionary accepts what a plain one accepts, and names the same members up to the hundredth invalid one', () => {
  const name = t.refinement(t.string, (text) => text.startsWith('n'), 'name')
  const [few, all] = [recordOf(name, item), t.record(name, item)]
  const member = fc.oneof(fc.record({ name: fc.string(), count: fc.integer() }), fc.constant({ name: 1 }), fc.constant(null))
  const members = fc.dictionary(fc.tuple(fc.constantFrom('n', 'm'), fc.nat()).map(([letter, number]) => `${letter}${number}`), member, { maxKeys: 300, size: 'max' })
  fc.assert(
    fc.property(fc.oneof(members, fc.constantFrom(null, 'no object', [1], new Date(0))), (input) => {
      expect(few.is(input)).toBe(all.is(input))
      checkDecoded(few.decode(input), all.decode(input), (path) => path.split('.')[0])
    }),
  )
})

test('the known fields are listed once, however many unknown ones a request has', () => {
  const sorted = vi.spyOn(Array.prototype, 'sort')
  try {
    const found = validate(item)(Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`k${i}`, i])))
    expect(E.isLeft(found) ? found.left.length : 0).toBe(1_001)
    expect(sorted.mock.calls.length).toBeLessThan(2)
  } finally {
    sorted.mockRestore()
  }
})

test('nothing is checked after the hundredth invalid item', () => {
  let looks = 0
  const counted = new t.Type<string, string, unknown>('text', (input): input is string => (looks++, typeof input === 'string'), (input, context) => (looks++, t.failure(input, context)), String)
  const found = listOf(counted).decode(Array.from({ length: 100_000 }, (_, i) => i))
  expect(E.isLeft(found) ? found.left.length : 0).toBe(100)
  expect(looks).toBe(200)
})
