/** The index for lookups by id and by key, compared with a plain map after each step. */
import { hashOf, TextIndex } from '@daybook/core/testing'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from './settings.js'

interface Item {
  readonly text: string
}

/** Texts of one family have the same hash: they differ only before a long common end, where the hash does not look. */
const familyText = (family: number, member: number): string =>
  `${String(member).padStart(3, '0')}-the same end for all of family ${family}`

const anyText = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.uuid(), fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), maxLength: 64 }))

const doings = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ do: fc.constant('family' as const), family: fc.nat({ max: 3 }), from: fc.nat({ max: 20 }), count: fc.integer({ min: 1, max: 30 }) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('many' as const), count: fc.integer({ min: 1, max: 400 }) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('any' as const), text: anyText }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('all' as const), texts: fc.array(anyText, { maxLength: 300 }), family: fc.nat({ max: 3 }), count: fc.nat({ max: 20 }) }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('replace' as const), pick: fc.nat() }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('reserve' as const), count: fc.nat({ max: 400 }) }) },
    { weight: 6, arbitrary: fc.record({ do: fc.constant('delete' as const), pick: fc.nat() }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('leave' as const), from: fc.nat(), count: fc.integer({ min: 1, max: 500 }) }) },
  ),
  { maxLength: 60, size: 'max' },
)

test('a text index contains, finds and removes the same as a map, however similar the texts are', () => {
  fc.assert(
    fc.property(doings, fc.constantFrom(0, 0, 500), fc.integer(), (list, expected, seed) => {
      const items: Array<Item> = []
      const index = new TextIndex<Item>((number) => items[number], ({ text }) => text, seed, expected)
      const plain = new Map<string, Item>()
      const set = (text: string): void => {
        const item = { text }
        expect(index.get(text)).toBe(plain.get(text))
        index.set(text, items.push(item) - 1)
        plain.set(text, item)
        expect(index.get(text)).toBe(item)
      }
      const remove = (text: string): void => {
        const item = plain.get(text)
        const number = item === undefined ? -1 : items.indexOf(item)
        expect(index.delete(text, items.length)).toBe(false)
        expect(index.delete(text, number)).toBe(plain.has(text))
        plain.delete(text)
        expect(index.get(text)).toBeUndefined()
      }
      const nth = (n: number): string => [...plain.keys()][n % plain.size] ?? 'nobody'
      const isSame = (): void => {
        expect(index.size).toBe(plain.size)
        for (const { text } of items) {
          expect(index.get(text)).toBe(plain.get(text))
          expect(index.has(text)).toBe(plain.has(text))
        }
      }
      for (const doing of list) {
        if (doing.do === 'family') for (let i = 0; i < doing.count; i++) set(familyText(doing.family, doing.from + i))
        else if (doing.do === 'many') for (let i = 0; i < doing.count; i++) set(`task-${items.length}`)
        else if (doing.do === 'any') set(doing.text)
        else if (doing.do === 'all') {
          const texts = [...new Set([...doing.texts, ...Array.from({ length: doing.count }, (_, i) => familyText(doing.family, i))])].filter((text) => !plain.has(text))
          const numbers = texts.map((text) => {
            const item = { text }
            plain.set(text, item)
            return items.push(item) - 1
          })
          index.addAll(Int32Array.from(texts, (text) => hashOf(text, seed)), Float64Array.from(numbers), texts.length)
          for (const text of texts) expect(index.get(text)).toBe(plain.get(text))
        }
        else if (doing.do === 'replace') set(nth(doing.pick))
        else if (doing.do === 'reserve') {
          index.reserve(doing.count)
          expect(index.capacity).toBeGreaterThanOrEqual(2 * doing.count)
        } else if (doing.do === 'delete') remove(nth(doing.pick))
        else for (const text of [...plain.keys()].slice(doing.from % 500, (doing.from % 500) + doing.count)) remove(text)
        expect(index.size).toBe(plain.size)
      }
      isSame()
      expect(index.has('nobody was called so')).toBe(false)
      for (const text of [...plain.keys()].slice(3)) remove(text)
      isSame()
      expect(index.capacity).toBeLessThanOrEqual(Math.max(8_192, 4 * expected))
    }),
    runs(60),
  )
})

test.each(['one after the other', 'at once'])('texts with equal hashes are found nearly as fast as others, added %s', (how) => {
  let looks = 0
  const items: ReadonlyArray<Item> = Array.from({ length: 500 }, (_, i) => ({ text: familyText(0, i) }))
  const index = new TextIndex<Item>((number) => items[number], (item) => (looks++, item.text), 0)
  if (how === 'at once') index.addAll(Int32Array.from(items, ({ text }) => hashOf(text, 0)), Float64Array.from(items.keys()), items.length)
  else items.forEach(({ text }, i) => index.set(text, i))
  for (const item of items) expect(index.get(item.text)).toBe(item)
  // Two lookups of each text, and each compares it with a few others at most.
  expect(looks).toBeLessThan(2 * 500 * 10)
})

test('INV-22: texts that were added together take no memory once nearly all have left', () => {
  const items: ReadonlyArray<Item> = Array.from({ length: 20_000 }, (_, i) => ({ text: `task-${i}` }))
  const index = new TextIndex<Item>((number) => items[number], ({ text }) => text, 0)
  index.addAll(Int32Array.from(items, ({ text }) => hashOf(text, 0)), Float64Array.from(items.keys()), items.length)
  expect(index.capacity).toBeGreaterThan(items.length)
  items.forEach(({ text }, number) => number >= 100 && index.delete(text, number))
  expect(index.capacity).toBeLessThanOrEqual(8_192)
  expect(items.filter(({ text }) => index.has(text))).toEqual(items.slice(0, 100))
})
