/** Preparing tasks: ids, keys and contents are determined before the queue decides. */
import { contentKey, prepareImport, prepareResult, prepareTask } from '@daybook/adapters/engine'
import type { NewTask } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import { expect, test } from 'vitest'
import { claim, codeOf, caller, foldAll, logOf, ok, openQueue, stateText, textOf, typesIn } from '../support/queue.js'

const prepared = (task: NewTask) => {
  const result = prepareTask(task)
  if (E.isLeft(result)) throw new Error(result.left.detail)
  return result.right
}

test('LK-05: the same type and payload make the same key, whatever the order of the members', () => {
  const one = prepared({ type: 'a', payload: { x: 1, y: { b: [1, 2], a: null } } })
  const other = prepared({ type: 'a', payload: { y: { a: null, b: [1, 2] }, x: 1 }, description: 'again', priority: 'HIGH' })
  expect(other.idempotencyKey).toBe(one.idempotencyKey)
  expect(one.idempotencyKey).toMatch(/^[0-9a-f]{64}$/)
  expect(contentKey('a', 'null')).toBe(prepared({ type: 'a' }).idempotencyKey)
  for (const unlike of [{ type: 'b', payload: { x: 1, y: { b: [1, 2], a: null } } }, { type: 'a', payload: { x: 1 } }]) {
    expect(prepared(unlike).idempotencyKey).not.toBe(one.idempotencyKey)
  }
  expect(prepared({ type: 'a', idempotencyKey: 'mine' }).idempotencyKey).toBe('mine')
})

test('an id is the producer’s own, or a new one that sorts by time', () => {
  expect(prepared({ type: 'a', id: 'mine' }).id).toBe('mine')
  const ids = Array.from({ length: 1_000 }, () => prepared({ type: 'a' }).id)
  expect(new Set(ids).size).toBe(1_000)
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
})

test('content is one JSON text of what was given, and its size is limited', () => {
  expect(prepared({ type: 'a' }).content).toBe('{"payload":null}')
  const whole = prepared({ type: 'a', payload: [1], description: 'say "so"', metadata: { m: 1 } })
  expect(JSON.parse(whole.content)).toEqual({ payload: [1], description: 'say "so"', metadata: { m: 1 } })
  expect(prepareTask({ type: 'a', payload: 'ü'.repeat(200) }, 300)).toMatchObject({ left: { code: 'too-large' } })
  expect(E.isRight(prepareTask({ type: 'a', payload: 'u'.repeat(200) }, 300))).toBe(true)
})

test('a value that is not JSON is refused with its path', () => {
  const odd = (value: unknown) => prepareTask({ type: 'a', payload: { deep: [0, value] } } as NewTask)
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY, () => 1, Symbol('s'), 1n]) {
    expect(odd(value)).toMatchObject({ left: { code: 'invalid', errors: [{ path: 'payload.deep[1]' }] } })
  }
  expect(prepareResult({ output: Number.NaN } as never)).toMatchObject({ left: { code: 'invalid' } })
})

test('EV-09: imported tasks keep their status, and a second import changes nothing', async () => {
  const { engine, store } = await openQueue()
  const history = [
    prepareImport({ type: 'a', id: 'done' }, { status: 'completed', createdAt: 1_000, finishedAt: 2_000, result: { output: 'it is done' } }),
    prepareImport({ type: 'a', id: 'dead', payload: 1 }, { status: 'dead-letter', retries: 3, lastError: 'no luck' }),
    prepareImport({ type: 'a', id: 'open', payload: 2, dependencies: ['done'] }, { status: 'pending' }),
  ]
  const tasks = history.flatMap((each) => (E.isRight(each) ? [each.right] : []))
  expect(tasks).toHaveLength(3)
  const first = ok(await engine.submit({ type: 'Import', tasks }, caller))
  expect(first.map(({ id, status, duplicate }) => [id, status, duplicate])).toEqual([
    ['done', 'completed', false], ['dead', 'dead-letter', false], ['open', 'pending', false],
  ])
  const second = await engine.submit({ type: 'Import', tasks }, caller)
  expect(ok(second).every(({ duplicate }) => duplicate)).toBe(true)
  expect(await typesIn(store)).toEqual(['TaskImported', 'TaskImported', 'TaskEnqueued'])
  const log = await logOf(store)
  expect(JSON.parse(log[0]!.data)).toMatchObject({ status: 'completed', content: { payload: null, result: { output: 'it is done' } } })
  expect(await stateText(engine)).toBe(textOf(foldAll(log)))
  expect(ok(await engine.claim(claim(), caller))).toMatchObject([{ task: 'open', content: '{"payload":2}' }])
  expect(codeOf(await engine.submit({ type: 'Retry', reviewer: 'r', reason: 'again', task: 'dead' }, caller))).toBe('success')
  expect(ok(await engine.claim(claim(), caller))).toMatchObject([{ task: 'dead', content: '{"payload":1}' }])
})
