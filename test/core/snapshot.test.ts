/** What a snapshot costs at its beginning, while the queue waits. INV-15 compares loaded states over random histories. */
import { beginSnapshot, phases, type SnapshotPage, snapshotReader } from '@daybook/core'
import { textOf } from '@daybook/core/testing'
import { expect, test } from 'vitest'
import { Queue, task } from './queue.js'

const many = (from: number, count: number) =>
  Array.from({ length: count }, (_, i) => task(`t${from + i}`, { tenant: `tenant ${(from + i) % 700}`, phase: phases[(from + i) % 5]!, type: `type ${(from + i) % 3}` }))

test('a snapshot begins with the same few bytes, however many tenants and groups there are', () => {
  const headBytes = (tasks: number): number => {
    const q = new Queue().enqueue(...many(0, tasks))
    const work = beginSnapshot(q.state)
    const [head] = work.next(1) as [SnapshotPage]
    work.abandon()
    return head.text.length
  }
  expect(headBytes(3_000) - headBytes(10)).toBeLessThan(50)
})

test('INV-15: a snapshot knows the groups of all its pages, while the queue goes on', () => {
  const q = new Queue().configure({ decisionReport: 'optional' }).enqueue(...many(0, 3_000))
  const before = textOf(q.state)
  const work = beginSnapshot(q.state)
  const reader = snapshotReader()
  for (let pages = work.next(200), i = 0; pages !== undefined; pages = work.next(200), i++) {
    for (const page of pages) reader.page(page)
    const { ids, token } = q.claim('ann', { max: 2 })
    q.complete(ids[0] as string, token - 1)
    q.enqueue(...many(3_000 + i * 10, 10))
  }
  expect(textOf(reader.finish())).toBe(before)
})
