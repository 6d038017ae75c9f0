/** The sorted list that all indexes use, compared with a plain array that is sorted after each step. */
import { SortedList, sortedByKey } from '@daybook/core/testing'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from './settings.js'

interface Item {
  readonly key: number
  readonly name: number
}
const byName = (a: Item, b: Item): number => a.name - b.name
const inOrder = (items: ReadonlyArray<Item>): ReadonlyArray<Item> => [...items].sort((a, b) => a.key - b.key || byName(a, b))

const doings = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ do: fc.constant('add' as const), key: fc.nat({ max: 2_000 }) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('append' as const), count: fc.integer({ min: 1, max: 700 }) }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant('remove' as const), pick: fc.nat() }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('take' as const), count: fc.integer({ min: 1, max: 600 }) }) },
  ),
  { maxLength: 60, size: 'max' },
)

test('a sorted list contains, finds, walks, seeks and counts the same as a sorted array', () => {
  fc.assert(
    // Beyond 2^53, a key plus 1 may be the same number.
    fc.property(doings, fc.array(fc.nat({ max: 2_500 }), { maxLength: 5 }), fc.constantFrom(0, 0, 2 ** 54, -(2 ** 54)), (list, offsets, least) => {
      const places = offsets.map((offset) => least + offset)
      const sorted = new SortedList<Item>((item) => item.key, byName)
      let plain: Array<Item> = []
      let name = 0
      const add = (key: number): void => {
        const item = { key: least + key, name: ++name }
        sorted.add(item)
        plain.push(item)
      }
      const remove = (item: Item): void => {
        expect(sorted.remove(item)).toBe(true)
        plain = plain.filter((other) => other !== item)
      }
      for (const doing of list) {
        if (doing.do === 'add') add(doing.key)
        else if (doing.do === 'append') for (let i = 0; i < doing.count; i++) add(2_000 + name)
        else if (doing.do === 'take') for (const item of inOrder(plain).slice(0, doing.count)) remove(item)
        else if (plain.length > 0) remove(plain[doing.pick % plain.length] as Item)
        expect(sorted.size).toBe(plain.length)
      }
      const want = inOrder(plain)
      expect([...sorted]).toEqual(want)
      expect([sorted.first(), sorted.last()]).toEqual([want[0], want[want.length - 1]])
      const walked = []
      for (const cursor = sorted.cursor(); cursor.item !== undefined; cursor.advance()) walked.push(cursor.item)
      expect(walked).toEqual(want)
      for (const place of places) {
        expect(sorted.seek(place).item).toBe(want.find(({ key }) => key >= place))
        expect(sorted.seekPast(({ key }) => key < place).item).toBe(want.find(({ key }) => key >= place))
        expect(sorted.seekPast(({ key, name }) => key < place || (key === place && name < 9)).item).toBe(want.find(({ key, name }) => key > place || (key === place && name >= 9)))
        expect(sorted.at(place)).toBe(want.find(({ key }) => key === place))
      }
      const stranger = { key: 7, name: -1 }
      expect([sorted.has(stranger), sorted.remove(stranger), sorted.size]).toEqual([false, false, want.length])
      for (const item of want.slice(0, 20)) expect(sorted.has(item)).toBe(true)
      const filled = new SortedList<Item>((item) => item.key, byName)
      filled.fill([...plain])
      expect([...filled]).toEqual(want)
      for (const item of plain.slice(0, 50)) expect(filled.remove(item)).toBe(true)
      expect(filled.size).toBe(Math.max(0, plain.length - 50))
    }),
    runs(60),
  )
})

test('the place past the items for which something holds is found among items with the same key', () => {
  for (const size of [0, 1, 2, 127, 128, 129, 1_000]) {
    const sorted = new SortedList<Item>(() => 0, byName)
    for (let name = 0; name < size; name++) sorted.add({ key: 0, name: (name * 7_919) % size })
    for (const taken of [0, Math.min(size, 70)]) {
      for (let i = 0; i < taken; i++) sorted.remove(sorted.first() as Item)
      for (const name of [0, 1, 69, 70, 127, 128, size - 1, size]) expect(sorted.seekPast((item) => item.name < name).item?.name).toBe(Math.max(name, taken) < size ? Math.max(name, taken) : undefined)
    }
  }
})

test('sorting by key is stable, however far apart the keys are', () => {
  const keys = fc.oneof(fc.array(fc.integer({ min: -20, max: 20 })), fc.array(fc.maxSafeInteger()), fc.array(fc.nat()))
  fc.assert(
    fc.property(keys, (keys) => {
      const items = keys.map((key, name) => ({ key, name }))
      expect(sortedByKey(items, ({ key }) => key)).toEqual(inOrder(items))
    }),
    runs(200),
  )
})

test('teeth: a list that drops one item in a thousand is caught', () => {
  class Leaky<T> extends SortedList<T> {
    private added = 0
    override add(item: T): void {
      if (++this.added % 1_000 !== 0) super.add(item)
    }
  }
  const found = fc.check(
    fc.property(doings, (list) => {
      const sorted = new Leaky<Item>((item) => item.key, byName)
      let count = 0
      for (const doing of list) {
        const times = doing.do === 'append' ? doing.count : doing.do === 'add' ? 1 : 0
        for (let i = 0; i < times; i++) sorted.add({ key: i, name: ++count })
      }
      expect(sorted.size).toBe(count)
    }),
    { ...runs(60), endOnFailure: true },
  )
  expect(found.failed).toBe(true)
})
