/** Kept shapes of claims: they change no decision, and tell for which waiting claims there may be more tasks. */
import { keepShape, takeWokenShapes } from '@daybook/core'
import { expect, test } from 'vitest'
import { sizesOf } from '../support/states/index.js'
import { Queue, task } from './queue.js'

test('INV-28: a kept shape follows groups that open and close', () => {
  const q = new Queue()
  keepShape(q.state, { types: ['*'] })
  q.enqueue(task('a', { type: 'x' }), task('b', { type: 'y' }), task('c', { type: 'z', tenant: 'acme' }))
  expect(['', '', '', ''].map(() => q.claim('ann', { types: ['*'] }).ids)).toEqual([['a'], ['c'], ['b'], []])
  q.enqueue(task('d', { type: 'x' }))
  expect(q.claim('ann', { types: ['*'] }).ids).toEqual(['d'])
})

test('a type that is named like a list of types has a shape of its own', () => {
  const q = new Queue()
  const list = JSON.stringify([['x', 'y'], null, null, null])
  keepShape(q.state, { types: ['x', 'y'] })
  q.enqueue(task('a', { type: 'x' }), task('b', { type: list }))
  expect(q.claim('ann', { types: [list] }).ids).toEqual(['b'])
})

test('INV-28: a kept shape follows the breakers', () => {
  const q = new Queue()
  const shape = keepShape(q.state, { types: ['work'] })
  q.enqueue(task('a'))
  q.do({ type: 'OpenBreaker', taskType: 'work', reason: 'r' })
  expect([shape.hasWork, q.claim('ann', { types: ['work'] }).ids]).toEqual([false, []])
  q.do({ type: 'CloseBreaker', taskType: 'work', reason: 'r' })
  expect([shape.hasWork, q.claim('ann', { types: ['work'] }).ids]).toEqual([true, ['a']])
})

test('INV-28: a shape for which claims wait is woken when there may be more, and only then', () => {
  const q = new Queue()
  const [shape, other, idle] = [['work'], ['other'], ['w*']].map((types) => keepShape(q.state, { types }))
  if (shape === undefined || other === undefined || idle === undefined) throw new Error('three shapes')
  shape.waiting = other.waiting = 1
  const woken = (change: () => unknown) => {
    change()
    return takeWokenShapes(q.state)
  }
  expect(woken(() => q.enqueue(task('a')))).toEqual([shape])
  expect(woken(() => undefined)).toEqual([])
  expect(woken(() => q.enqueue(task('b'), task('c')))).toEqual([shape])
  expect(woken(() => q.claim('ann'))).toEqual([])
  expect(woken(() => q.enqueue(task('d', { type: 'third' })))).toEqual([])
  q.do({ type: 'Pause', reason: 'r' })
  takeWokenShapes(q.state)
  expect(new Set(woken(() => q.do({ type: 'Resume', reason: 'r' })))).toEqual(new Set([shape, other]))
})

test('INV-28: shapes are bounded, and those for which claims wait stay', () => {
  const q = new Queue()
  const first = keepShape(q.state, { types: ['first'] })
  first.waiting = 1
  for (let i = 0; i < 3_000; i++) keepShape(q.state, { types: [`t${i}`] })
  expect(sizesOf(q.state).shapes).toBe(1_024)
  expect(keepShape(q.state, { types: ['first'] })).toBe(first)
  q.enqueue(task('a', { type: 't0' }), task('b', { type: 't2999' }))
  expect([q.claim('ann', { types: ['t0'] }).ids, q.claim('ann', { types: ['t2999'] }).ids]).toEqual([['a'], ['b']])
})

test('INV-28: shapes that name a tenant follow its groups, also groups that were there before the shape', () => {
  const q = new Queue()
  const [any, acme] = [{ types: ['*'] }, { types: ['work'], tenant: 'acme' }]
  keepShape(q.state, acme)
  q.enqueue(task('a', { tenant: 'acme' }), task('b', { tenant: 'other' }))
  const later = { types: ['work', 'more'], tenant: 'acme' }
  const shapes = [keepShape(q.state, any), keepShape(q.state, acme), keepShape(q.state, later)]
  const hasWork = () => shapes.map((shape) => shape.hasWork)
  expect(hasWork()).toEqual([true, true, true])
  expect(q.claim('ann', acme).ids).toEqual(['a'])
  expect(hasWork()).toEqual([true, false, false])
  q.enqueue(task('c', { tenant: 'acme' }))
  expect([hasWork(), q.claim('ann', later).ids]).toEqual([[true, true, true], ['c']])
})

const entriesOf = (shape: ReturnType<typeof keepShape>): number => {
  let count = 0
  for (const walk = shape.walk(); walk.item !== undefined; walk.advance()) count++
  return count
}

test('a new shape finds the open groups of its type, in whatever order others have closed', () => {
  const tenants = ['a', 'b', 'c', 'd']
  const q = new Queue()
  q.enqueue(...tenants.map((tenant) => task(tenant, { tenant })))
  const types = ['work', 'more']
  for (const [closed, tenant] of ['b', 'd', 'a'].entries()) {
    expect(q.claim('ann', { tenant }).ids).toEqual([tenant])
    expect(entriesOf(keepShape(q.state, { types: [...types, `more${closed}`] }))).toBe(tenants.length - closed - 1)
  }
  expect(q.claim('ann', { types }).ids).toEqual(['c'])
})
