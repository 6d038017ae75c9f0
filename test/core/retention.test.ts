import { headOf, snapshotPages, snapshotReader, taskOf } from '@daybook/core'
import { sizesOf } from '@daybook/core/testing'
import { expect, test } from 'vitest'
import { Queue, task } from './queue.js'

/** A thousand tasks a round, all completed, with no retention. */
const work = (q: Queue, rounds: number, of: (id: string) => ReturnType<typeof task>): void => {
  for (let round = 0; round < rounds; round++) {
    const last = headOf(q.state).lastNumber
    const ids = Array.from({ length: 1_000 }, (_, i) => `t${last + i}`)
    q.enqueue(...ids.map(of))
    const { token } = q.claim('ann', { max: 1_000, types: ['work', 'run-*'] })
    ids.forEach((id, i) => q.complete(id, token - 999 + i))
  }
}

test('INV-22: a dead letter that nobody looks at does not keep what came after it', () => {
  const q = new Queue().configure({ retentionSeconds: 0 }).enqueue(task('old'))
  q.kill('old')
  work(q, 5, (id) => task(id))
  q.do({ type: 'Pause', reason: 'one more event' })
  expect(sizesOf(q.state)).toMatchObject({ live: 1, retained: 0, groups: 1, ghosts: 0 })
  expect(sizesOf(q.state).numberSlots).toBeLessThan(1_100)
  expect([q.task('#1').id, q.status('#2')]).toEqual(['old', undefined])
})

test('INV-22: types and tenants that come and go leave nothing behind', () => {
  const q = new Queue().configure({ retentionSeconds: 0 })
  work(q, 3, (id) => task(id, { type: `run-${id}`, tenant: id }))
  q.do({ type: 'Pause', reason: 'one more event' })
  expect(sizesOf(q.state)).toMatchObject({ live: 0, retained: 0, groups: 0, emptyGroups: 0 })
})

test('INV-22: a task that waits long does not keep those that waited with it', () => {
  const q = new Queue().configure({ retentionSeconds: 0 }).enqueue(task('long'))
  for (let i = 0; i < 300; i++) {
    q.enqueue(task(`c${i}`, { dependencies: ['long'] }))
    q.do({ type: 'Cancel', task: `c${i}`, reason: 'r' })
  }
  q.do({ type: 'Pause', reason: 'one more event' })
  expect(sizesOf(q.state)).toMatchObject({ live: 1, retained: 0, ghosts: 0 })
})

test('INV-22: after a long silence each event takes out sixteen at most, and none is forgotten', () => {
  const q = new Queue().configure({ retentionSeconds: 100 })
  q.do({ type: 'Import', tasks: Array.from({ length: 40 }, (_, i) => ({ ...task(`t${i}`), status: 'completed' as const })) })
  q.at += 100_000
  const left = ['Pause', 'Resume', 'Pause'].map((type) => {
    q.do({ type, reason: 'r' } as { readonly type: 'Pause'; readonly reason: string })
    return sizesOf(q.state).retained
  })
  expect(left).toEqual([24, 8, 0])
})

test('INV-22: a snapshot whose numbers lie far apart is read in the room of its tasks', () => {
  const q = new Queue().enqueue(task('old'), task('new'))
  const far = 113_000_000
  const reader = snapshotReader()
  for (const page of snapshotPages(q.state)) {
    // The first column of a page of tasks is their numbers.
    if (page.rows === 2) page.numbers[1] = far
    reader.page({ ...page, text: page.text.replace('"lastNumber":2', `"lastNumber":${far}`) })
  }
  const state = reader.finish()
  expect([taskOf(state, '#1')?.id, taskOf(state, `#${far}`)?.id]).toEqual(['old', 'new'])
  expect(sizesOf(state).numberSlots).toBeLessThan(10)
})
