import { outsideDependencies, planImport, readQueueFile } from '@daybook/adapters/import'
import { describe, expect, test } from 'vitest'

const files = (byName: Record<string, ReadonlyArray<object>>) =>
  Object.entries(byName).map(([name, tasks]) => readQueueFile(JSON.stringify(tasks.map((task) => ({ type: 'dev', ...task }))), name))
const plan = (byName: Record<string, ReadonlyArray<object>>, known: ReadonlyArray<string> = []) => planImport(files(byName), new Set(known))
const ids = (tasks: ReadonlyArray<{ readonly id: string }>) => tasks.map(({ id }) => id)

describe('EV-09: dependencies', () => {
  test('come in any order, and are taken first', () => {
    const { took, refused } = plan({ 'pending.json': [{ id: 'c', dependencies: ['b', 'a'] }, { id: 'b', dependencies: ['a'] }, { id: 'a' }, { id: 'd' }] })
    expect(ids(took)).toEqual(['a', 'b', 'c', 'd'])
    expect(refused).toEqual([])
  })

  test('one that is nowhere refuses its task by name, and what depends on it; the others are taken', () => {
    const { took, refused } = plan({ 'pending.json': [{ id: 'a', dependencies: ['ghost'] }, { id: 'b', dependencies: ['a'] }, { id: 'c' }] })
    expect(ids(took)).toEqual(['c'])
    expect(refused).toEqual([
      { file: 'pending.json', task: 'a', why: 'depends on ghost, which is in none of the files, nor in the queue' },
      { file: 'pending.json', task: 'b', why: 'depends on a, which was refused' },
    ])
  })

  test('one that is in the queue already will do', () => {
    const given = { 'pending.json': [{ id: 'a', dependencies: ['there'] }] }
    expect(outsideDependencies(files(given))).toEqual(['there'])
    expect(ids(plan(given, ['there']).took)).toEqual(['a'])
  })

  test('a finished task is taken without those that are lost; its list stays in metadata', () => {
    const { took, refused } = plan({ 'completed.json': [{ id: 'a', dependencies: ['ghost', 'b'] }, { id: 'b' }] })
    expect(refused).toEqual([])
    expect(took.find(({ id }) => id === 'a')).toMatchObject({ dependencies: ['b'], metadata: { dependencies: ['ghost', 'b'] } })
  })

  test('a cycle is refused, all of it and what hangs on it', () => {
    const { took, refused } = plan({ 'pending.json': [{ id: 'x', dependencies: ['a'] }, { id: 'a', dependencies: ['b'] }, { id: 'b', dependencies: ['a'] }, { id: 'c' }, { id: 's', dependencies: ['s'] }] })
    expect(ids(took)).toEqual(['c'])
    expect(refused.map(({ task }) => task).sort()).toEqual(['a', 'b', 's', 'x'])
    expect(refused.find(({ task }) => task === 'a')?.why).toBe('depends on itself: a → b → a')
  })

  test('on a cancelled task, an open one would never start', () => {
    const { took, refused } = plan({ 'cancelled.json': [{ id: 'a' }], 'pending.json': [{ id: 'b', dependencies: ['a'] }] })
    expect(ids(took)).toEqual(['a'])
    expect(refused).toEqual([{ file: 'pending.json', task: 'b', why: 'depends on a, which is cancelled and will never complete' }])
  })

  test('a chain of 50,000 exhausts no stack', () => {
    const chain = Array.from({ length: 50_000 }, (_, i) => ({ id: `t${i}`, dependencies: i === 49_999 ? [] : [`t${i + 1}`] }))
    const { took } = plan({ 'pending.json': chain })
    expect(took).toHaveLength(50_000)
    expect(took[0]?.id).toBe('t49999')
  })
})

describe('EV-09: the same task twice', () => {
  test('in two files: the furthest state counts, whichever comes first', () => {
    const both = { 'pending.json': [{ id: 'a' }, { id: 'b' }], 'completed.json': [{ id: 'a' }], 'dead-letter.json': [{ id: 'b' }] }
    for (const given of [both, Object.fromEntries(Object.entries(both).reverse())]) {
      const { took, mapped, refused } = plan(given)
      expect(Object.fromEntries(took.map(({ id, status }) => [id, status]))).toEqual({ a: 'completed', b: 'dead-letter' })
      expect(refused).toEqual([])
      expect(mapped.map(({ what }) => what)).toContain('stands as completed in completed.json too: that counts, being further than pending')
    }
  })

  test('word for word: taken once', () => {
    expect(ids(plan({ 'pending.json': [{ id: 'a' }, { id: 'a' }] }).took)).toEqual(['a'])
  })

  test('with other content: the second is refused, not lost in silence', () => {
    const { took, refused } = plan({ 'pending.json': [{ id: 'a', payload: 1 }, { id: 'a', payload: 2 }] })
    expect(took).toMatchObject([{ id: 'a', payload: 1 }])
    expect(refused).toMatchObject([{ task: 'a', why: expect.stringContaining('other content') as string }])
  })

  test('two ids with one idempotency key stay two tasks', () => {
    const { took } = plan({ 'pending.json': [{ id: 'a', idempotencyKey: 'k' }, { id: 'b', idempotencyKey: 'k' }] })
    expect(took).toMatchObject([{ id: 'a', idempotencyKey: 'k' }, { id: 'b', idempotencyKey: 'b', metadata: { idempotencyKey: 'k' } }])
  })
})
