import { DaybookError } from '@daybook/adapters/client'
import { importFiles, importTarget, type ImportTarget, type ImportTask, readQueueFile } from '@daybook/adapters/import'
import * as E from 'fp-ts/lib/Either.js'
import { expect, test } from 'vitest'

/** A fake queue that knows ids, refuses chosen tasks, and counts its requests. */
const fakeQueue = (refuses: (task: ImportTask) => string | undefined = () => undefined, keys: Record<string, string> = {}) => {
  const tasks = new Map<string, ImportTask>()
  const state = { requests: 0, largest: 0, tasks }
  const target: ImportTarget = {
    statusOf: async (id) => tasks.get(id)?.status,
    take: async (chunk) => {
      state.requests++
      state.largest = Math.max(state.largest, chunk.length)
      for (const task of chunk) {
        const why = refuses(task)
        if (why !== undefined) return E.left(why)
        for (const id of task.dependencies ?? []) {
          if (!tasks.has(id) && !Object.values(keys).includes(id) && !chunk.some((other) => other.id === id && keys[other.idempotencyKey] === undefined)) return E.left(`unknown ${id}`)
        }
      }
      return E.right(chunk.map((task) => {
        const known = keys[task.idempotencyKey]
        if (known !== undefined || tasks.has(task.id)) return { id: known ?? task.id, duplicate: true, status: 'pending' as const }
        tasks.set(task.id, task)
        return { id: task.id, duplicate: false, status: task.status }
      }))
    },
  }
  return { target, state }
}
const file = (tasks: ReadonlyArray<object>, name = 'pending.json') => [readQueueFile(JSON.stringify(tasks), name)]

test('EV-09: a second import changes nothing and says so', async () => {
  const { target } = fakeQueue()
  const files = file([{ id: 'a', type: 'x' }, { id: 'b', type: 'x', dependencies: ['a'] }])
  expect(await importFiles(files, target)).toMatchObject({ took: 2, alreadyThere: 0, byStatus: { pending: 2 } })
  expect(await importFiles(files, target)).toMatchObject({ took: 0, alreadyThere: 2, byStatus: {} })
})

test('is sent in chunks, dependencies first, with progress reports', async () => {
  const { target, state } = fakeQueue()
  const tasks = Array.from({ length: 1_300 }, (_, i) => ({ id: `t${i}`, type: 'x', dependencies: i === 1_299 ? [] : [`t${i + 1}`] }))
  const seen: Array<number> = []
  const report = await importFiles(file(tasks), target, { progress: (step, done) => void (step === 'importing' && seen.push(done)) })
  expect(report).toMatchObject({ took: 1_300, refused: [] })
  expect(state).toMatchObject({ requests: 3, largest: 500 })
  expect(seen).toEqual([0, 500, 1_000, 1_300])
})

test('a task that the queue refuses is named, and stops only its dependents', async () => {
  const { target, state } = fakeQueue((task) => (task.id === 't40' ? 'too large' : undefined))
  const tasks = Array.from({ length: 100 }, (_, i) => ({ id: `t${i}`, type: 'x', dependencies: i === 41 ? ['t40'] : [] }))
  const report = await importFiles(file(tasks), target)
  expect(report.took).toBe(98)
  expect(report.refused).toEqual([
    { file: 'pending.json', task: 't40', why: 'too large', tasks: 1 },
    { file: 'pending.json', task: 't41', why: 'depends on t40, which was refused', tasks: 1 },
  ])
  expect(state.requests).toBeLessThan(20)
})

test('a task that the queue has under another id gets that id, also as a dependency', async () => {
  const { target, state } = fakeQueue(undefined, { k: 'elsewhere' })
  const report = await importFiles(file([{ id: 'b', type: 'x', dependencies: ['a'] }, { id: 'a', type: 'x', idempotencyKey: 'k' }]), target)
  expect(report).toMatchObject({ took: 1, alreadyThere: 1, refused: [] })
  expect(state.tasks.get('b')?.dependencies).toEqual(['elsewhere'])
})

test('an import that cannot reach the queue any more says how far it got; the same import again continues', async () => {
  const { target, state } = fakeQueue()
  const tasks = file(Array.from({ length: 1_300 }, (_, i) => ({ id: `t${i}`, type: 'x' })))
  let left = 2
  const away: ImportTarget = { ...target, take: (chunk) => (left-- > 0 ? target.take(chunk) : Promise.reject(new Error('the server is away'))) }
  await expect(importFiles(tasks, away)).rejects.toMatchObject({ name: 'ImportStopped', done: 1_000, of: 1_300, cause: { message: 'the server is away' } })
  expect(state.tasks.size).toBe(1_000)
  expect(await importFiles(tasks, target)).toMatchObject({ took: 300, alreadyThere: 1_000 })
})

test('the reason of a refusal has each of its errors once', async () => {
  const errors = [{ path: 'tasks[0].a', message: 'must be a text' }, { path: 'tasks[0].b', message: 'must be a number' }]
  const refusing = { importTasks: () => Promise.reject(new DaybookError('invalid', 'tasks[0].a: must be a text (and 1 more)', { status: 422, errors })) }
  expect(await importTarget(refusing as never).take([])).toEqual(E.left('tasks[0].a: must be a text (and 1 more); tasks[0].b must be a number'))
})
