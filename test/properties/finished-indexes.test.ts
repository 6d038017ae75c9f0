/** The indexes of finished tasks (ADR 40, ADR 48), compared with maps. */
import { NumberRows, RowIndex } from '@daybook/core/testing'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from './settings.js'

/** Dense numbers, some with gaps, and some far away. */
const number = fc.oneof(fc.nat({ max: 1_600 }), fc.nat({ max: 1_600 }), fc.nat({ max: 40 }).map((n) => n * 511), fc.nat({ max: 9 }).map((n) => 2 ** 45 + n * 300))
const change = fc.oneof(
  { weight: 4, arbitrary: fc.record({ from: number, count: fc.integer({ min: 1, max: 700 }), isAdded: fc.constant(true), add: fc.constantFrom('add' as const, 'addLater' as const), step: fc.constantFrom(1, -1), seen: fc.option(number) }) },
  { weight: 2, arbitrary: fc.record({ from: number, count: fc.integer({ min: 1, max: 700 }), isAdded: fc.constant(false), add: fc.constant('add' as const), step: fc.constant(1), seen: fc.constant(null) }) },
)

test('rows by number are those that were added and not removed, in the order of the numbers', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 12 }), (changes) => {
      const rows = new NumberRows()
      const model = new Map<number, number>()
      let row = 0
      for (const { from, count, isAdded, add, step, seen } of changes) {
        for (let i = 0; i < count; i++) {
          const n = step > 0 ? from + i : from + count - 1 - i
          if (isAdded && !model.has(n)) {
            rows[add](n, row)
            model.set(n, row++)
          } else if (!isAdded) {
            rows.remove(n)
            model.delete(n)
          }
        }
        if (seen !== null) expect(rows.get(seen)).toBe(model.get(seen))
      }
      const sorted = [...model.keys()].sort((a, b) => a - b)
      const found: Array<number> = []
      for (let next = rows.from(0); next !== undefined; next = rows.from(next + 1)) found.push(next)
      expect(found).toEqual(sorted)
      expect(rows.size).toBe(sorted.length)
      expect(sorted.map((n) => rows.get(n))).toEqual(sorted.map((n) => model.get(n)))
      for (const n of [0, 1, 511, 512, 1_024, 2 ** 45, 2 ** 45 + 299]) expect(rows.get(n)).toBe(model.get(n))
    }),
    runs(100),
  )
})

test('INV-22: rows by number that are added together are found, and take no more than others, however far apart the numbers are', () => {
  const [together, each] = [new NumberRows(), new NumberRows()]
  const numbers = Array.from({ length: 20_000 }, (_, i) => ((i * 7) % 10_000) * 512 + (i < 10_000 ? 3 : 1))
  numbers.forEach((n, row) => {
    together.addLater(n, row)
    each.add(n, row)
  })
  expect([together.bytes, together.size]).toEqual([each.bytes, each.size])
  numbers.forEach((n, row) => together.get(n) === row || expect([n, together.get(n)]).toEqual([n, row]))
})

test('a row that is added with others is found, also if all near it left just before', () => {
  const rows = new NumberRows()
  rows.add(5, 50)
  rows.addLater(6, 60)
  rows.remove(5)
  rows.remove(6)
  rows.addLater(7, 70)
  expect([rows.get(7), rows.size]).toEqual([70, 1])
})

test('INV-22: rows by number take 5 bytes each where numbers are dense, and none when they have left', () => {
  const rows = new NumberRows()
  for (let n = 1; n <= 100_000; n++) rows.add(n, n)
  expect(rows.bytes / rows.size).toBeLessThan(5)
  for (let n = 1; n <= 100_000; n++) rows.remove(n)
  expect(rows.bytes).toBe(0)
})

/** A hash that leaves out some bits, so that several texts share it. */
const hashWith = (mask: number) => (text: string): number => {
  let hash = 17
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x9e3779b1) ^ (hash >>> 13)
  return (Math.imul(hash, 0x85ebca6b) & mask) | 1
}

/** Where all hashes begin with the same bits, the entries lie in one long row, which costs the square of their number. So those tests have just enough texts to split a table. */
test.each([
  ['all hashes differ', -1, 30_000],
  ['many texts have the same hash', 0xffe0_0000, 30_000],
  ['all hashes begin with the same bits', 0xffff, 12_000],
  ['many texts have the same hash, and all begin with the same bits', 0x1ff, 6_000],
  ['all hashes have the same end', 0x7fff_0000, 30_000],
])('rows are found by their texts, and left out when they leave: %s', (_, mask, count) => {
  const texts = Array.from({ length: count }, (_, i) => `task ${i}`)
  const hash = hashWith(mask)
  const index = new RowIndex((row) => texts[row] as string, hash)
  const add = (i: number): void => index.add(hash(texts[i] as string), i)
  const remove = (i: number): boolean => index.remove(hash(texts[i] as string), i)
  const isThere = (i: number): boolean => i % 3 !== 0 || i % 2 === 0
  texts.forEach((_, i) => add(i))
  const most = index.bytes
  texts.forEach((_, i) => i % 3 === 0 && expect(remove(i)).toBe(true))
  texts.forEach((_, i) => i % 6 === 0 && add(i))
  expect(index.size).toBe((count * 5) / 6)
  texts.forEach((text, i) => {
    if (index.get(text) !== (isThere(i) ? i : undefined)) expect([text, index.get(text)]).toEqual([text, isThere(i) ? i : undefined])
  })
  expect([index.get('task'), remove(3)]).toEqual([undefined, false])
  texts.forEach((_, i) => isThere(i) && remove(i))
  expect([index.size, index.get('task 1')]).toEqual([0, undefined])
  expect(index.bytes).toBeLessThan(most / 20)
})

test('INV-22: a row index takes 12 bytes a row, however many there are, and when it was made for them', () => {
  const texts = Array.from({ length: 60_000 }, (_, i) => `task ${i}`)
  const hash = hashWith(-1)
  const grown = new RowIndex((row) => texts[row] as string, hash)
  const reserved = new RowIndex((row) => texts[row] as string, hash)
  reserved.reserve(texts.length)
  const before = reserved.bytes
  texts.forEach((text, i) => {
    for (const index of [grown, reserved]) index.add(hash(text), i)
    if (i > 2_000 && i % 100 === 0 && grown.bytes > 12.5 * grown.size) expect([i, grown.bytes / grown.size]).toEqual([i, 12])
  })
  // Some tables may have more than their share.
  expect(reserved.bytes).toBeLessThan(before * 1.1)
  expect(reserved.bytes / texts.length).toBeLessThan(11)
  texts.forEach((text, i) => index(reserved, text, i))
})

test.each([
  ['all hashes differ', -1],
  ['many texts have the same hash', 0xfff0_0000],
])('rows that an index gathers are found, whether it was made for them or not, beside others, and after some left: %s', (_, mask) => {
  const texts = Array.from({ length: 80_000 }, (_, i) => `task ${i}`)
  const hash = hashWith(mask)
  for (const reserved of [0, 1_000, 70_000]) {
    const rows = new RowIndex((row) => texts[row] as string, hash)
    if (reserved > 0) rows.reserve(reserved)
    const gather = (from: number, to: number): void => texts.slice(from, to).forEach((text, i) => rows.addLater(hash(text), from + i))
    gather(0, 70_000)
    expect([rows.remove(hash(texts[0] as string), 0), rows.size]).toEqual([true, 69_999])
    gather(70_000, 75_000)
    texts.slice(75_000).forEach((text, i) => rows.add(hash(text), 75_000 + i))
    expect([rows.size, rows.get('task 0')]).toEqual([79_999, undefined])
    texts.forEach((text, i) => i > 0 && index(rows, text, i))
  }
})

const index = (rows: RowIndex, text: string, row: number): void => {
  if (rows.get(text) !== row) expect([text, rows.get(text)]).toEqual([text, row])
}
