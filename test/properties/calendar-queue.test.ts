/** The queue of tasks by instant, compared with a plain list that is sorted each time. */
import { CalendarQueue, SortedList } from '@daybook/core/testing'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from './settings.js'

interface Item {
  readonly number: number
  readonly at: number
}
const byInstant = (a: Item, b: Item): number => a.at - b.at || a.number - b.number

/** Within a bucket, on the edges of buckets, several times the same instant, and far apart. */
const instants = fc.oneof(
  fc.nat({ max: 60_000 }),
  fc.constantFrom(0, 9_999, 10_000, 10_001, 20_000, 5_000_000, 1_767_225_600_000),
  fc.nat({ max: 4 }).map((many) => 1_767_225_600_000 + many * 10_000),
)
const doings = fc.array(
  fc.oneof(
    { weight: 20, arbitrary: fc.record({ do: fc.constant('add' as const), at: instants, count: fc.constantFrom(1, 1, 1, 30), step: fc.constantFrom(0, 1, 7) }) },
    // More items than are sorted at once: the bucket is divided, in each of its finer spans.
    { weight: 1, arbitrary: fc.record({ do: fc.constant('add' as const), at: instants, count: fc.constantFrom(600, 1_500), step: fc.constantFrom(-3, 0, 1, 5) }) },
    { weight: 12, arbitrary: fc.record({ do: fc.constant('remove' as const), which: fc.nat() }) },
    { weight: 12, arbitrary: fc.record({ do: fc.constant('remove first' as const), count: fc.constantFrom(1, 2, 5, 20, 400) }) },
  ),
  { maxLength: 80, size: 'max' },
)
type Doing = typeof doings extends fc.Arbitrary<ReadonlyArray<infer D>> ? D : never

const newQueue = (): CalendarQueue<Item> => new CalendarQueue<Item>(({ at }) => at, (a, b) => a.number - b.number)

const run = (queue: CalendarQueue<Item>, list: ReadonlyArray<Doing>, filled: ReadonlyArray<Item> = []): void => {
  const plain = [...filled].sort(byInstant)
  let made = filled.length
  const remove = (item: Item | undefined): void => {
    if (item === undefined) return
    queue.remove(item)
    plain.splice(plain.indexOf(item), 1)
  }
  for (const doing of list) {
    if (doing.do === 'add') {
      for (let i = 0; i < doing.count; i++) {
        const item = { number: made++, at: Math.max(0, doing.at + i * doing.step) }
        queue.add(item)
        plain.push(item)
      }
    } else if (doing.do === 'remove') remove(plain[doing.which % Math.max(1, plain.length)])
    else for (let i = 0; i < doing.count; i++) remove(queue.first())
    plain.sort(byInstant)
    if (queue.first() !== plain[0]) throw new Error(`the first is ${queue.first()?.number}, not ${plain[0]?.number}`)
  }
  for (const at of [0, 9_999, 10_000, 30_000, 2 ** 41, ...plain.slice(0, 10).map((item) => item.at)]) {
    expect([...queue.until(at)].sort(byInstant)).toEqual(plain.filter((item) => item.at <= at))
  }
}

test('a calendar queue has the same first item, and the same ones until any instant, as a list that is sorted', () => {
  fc.assert(fc.property(doings, (list) => run(newQueue(), list)), runs(200))
})

test('so has one that was filled at once', () => {
  fc.assert(
    fc.property(fc.array(instants, { maxLength: 2_000, size: 'max' }), doings, (filled, list) => {
      const items = filled.map((at, number) => ({ number, at }))
      const queue = newQueue()
      queue.fill(items)
      if (items.length > 0) expect(() => queue.fill(items)).toThrow('only an empty queue')
      expect([...queue.until(2 ** 41)].sort(byInstant)).toEqual([...items].sort(byInstant))
      run(queue, list, items)
    }),
    runs(100),
  )
})

test('an item that is not in it can be removed, and nothing changes', () => {
  const queue = newQueue()
  const [soon, late] = [{ number: 1, at: 5 }, { number: 2, at: 50_000 }]
  queue.add(soon)
  queue.remove(late)
  queue.add(late)
  queue.remove({ number: 3, at: 50_001 })
  expect([queue.first(), [...queue.until(100_000)]]).toEqual([soon, [soon, late]])
})

describe('no step looks at more than a few thousand items, however many are there', () => {
  /** The largest number of looks at items in one call, while this many items are added, then one before them is removed, then all after it. */
  const most = (items: number, at: (i: number) => number): number => {
    let looks = 0
    let worst = 0
    const queue = new CalendarQueue<Item>(
      (item) => (looks++, item.at),
      (a, b) => (looks++, a.number - b.number),
    )
    const step = (call: () => void): void => {
      looks = 0
      call()
      worst = Math.max(worst, looks)
    }
    const soon = { number: -1, at: 5 }
    queue.add(soon)
    for (let i = 0; i < items; i++) {
      const item = { number: i, at: at(i) }
      step(() => queue.add(item))
    }
    step(() => queue.remove(soon))
    for (let first = queue.first(); first !== undefined; first = queue.first()) {
      const item = first
      step(() => queue.remove(item))
    }
    return worst
  }
  const start = 1_767_225_600_000

  test.each<readonly [string, (i: number) => number]>([
    ['within ten seconds', (i) => start + ((i * 7_919) % 10_000)],
    ['within 100 ms', (i) => start + ((i * 7_919) % 100)],
    ['at one instant', () => start],
    ['at the end of ten seconds, each before the last', (i) => start + 9_999 - (i % 10_000)],
    ['over an hour', (i) => start + ((i * 7_919) % 3_600_000)],
  ])('all deadlines %s', (_, at) => {
    expect(most(30_000, at)).toBeLessThan(6_000)
  })

  test('teeth: to sort all of them at once is seen', () => {
    let looks = 0
    const list = new SortedList<Item>((item) => (looks++, item.at), (a, b) => a.number - b.number)
    list.fill(Array.from({ length: 30_000 }, (_, number) => ({ number, at: start + ((number * 7_919) % 10_000) })))
    expect(looks).toBeGreaterThan(6_000)
  })
})
