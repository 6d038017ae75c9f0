/** The queue of tasks by instant, compared with a plain list that is sorted each time. */
import { CalendarQueue } from '@daybook/core/testing'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from './settings.js'

interface Item {
  readonly number: number
  readonly at: number
}
const byInstant = (a: Item, b: Item): number => a.at - b.at || a.number - b.number

/** Within a bucket, on the edges of buckets, the same instant several times, and far apart. */
const instants = fc.oneof(
  fc.nat({ max: 60_000 }),
  fc.constantFrom(0, 9_999, 10_000, 10_001, 20_000, 5_000_000, 1_767_225_600_000),
  fc.nat({ max: 4 }).map((many) => 1_767_225_600_000 + many * 10_000),
)
const doings = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.record({ do: fc.constant('add' as const), at: instants, count: fc.constantFrom(1, 1, 1, 30) }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('remove' as const), which: fc.nat() }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('remove first' as const), count: fc.integer({ min: 1, max: 20 }) }) },
  ),
  { maxLength: 80, size: 'max' },
)
type Doing = typeof doings extends fc.Arbitrary<ReadonlyArray<infer D>> ? D : never

const newQueue = (): CalendarQueue<Item> => new CalendarQueue<Item>(({ at }) => at, (a, b) => a.number - b.number)

const run = (queue: CalendarQueue<Item>, list: ReadonlyArray<Doing>): void => {
  let plain: Array<Item> = []
  let made = 0
  const remove = (item: Item | undefined): void => {
    if (item === undefined) return
    queue.remove(item)
    plain = plain.filter((other) => other !== item)
  }
  for (const doing of list) {
    if (doing.do === 'add') {
      for (let i = 0; i < doing.count; i++) {
        const item = { number: made++, at: doing.at }
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

test('an item that is not in it can be removed, and nothing changes', () => {
  const queue = newQueue()
  const [soon, late] = [{ number: 1, at: 5 }, { number: 2, at: 50_000 }]
  queue.add(soon)
  queue.remove(late)
  queue.add(late)
  queue.remove({ number: 3, at: 50_001 })
  expect([queue.first(), [...queue.until(100_000)]]).toEqual([soon, [soon, late]])
})
