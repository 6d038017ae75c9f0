import { readQueueFile } from '@daybook/adapters/import'
import { describe, expect, test } from 'vitest'

const read = (value: unknown, name = 'pending.json') => readQueueFile(typeof value === 'string' ? value : JSON.stringify(value), name)
const one = (fields: object, name = 'pending.json') => {
  const file = read([{ id: 'a', type: 'dev', ...fields }], name)
  expect(file.refused).toEqual([])
  return { task: file.found[0]?.task, said: file.mapped.map((mapped) => mapped.what) }
}

describe('EV-09: queue files in every shape found in the wild', () => {
  const task = { id: 'a', type: 'dev' }
  test.each([
    ['{"tasks":[…]}', { tasks: [task] }],
    ['{"queue":[…]}', { queue: [task] }],
    ['a bare array', [task]],
    ['with a byte order mark', `\ufeff${JSON.stringify([task])}`],
  ])('%s', (_, value) => {
    expect(read(value).found.map(({ task: { id, type } }) => ({ id, type }))).toEqual([task])
  })

  test('an array of texts: each is a task of type "task" with that description, and the same id every time', () => {
    const texts = read(['write the docs', 'ship it'])
    expect(texts.found.map(({ task: { type, description, status } }) => ({ type, description, status }))).toEqual([
      { type: 'task', description: 'write the docs', status: 'pending' },
      { type: 'task', description: 'ship it', status: 'pending' },
    ])
    const ids = texts.found.map((found) => found.task.id)
    expect(new Set(ids).size).toBe(2)
    expect(read(['ship it', 'write the docs']).found.map((found) => found.task.id)).toEqual([...ids].reverse())
  })

  test.each([
    [10, 10], [1, 1], ['critical', 10], ['High', 8], ['MEDIUM', 5], ['low', 3],
    ['P0', 10], ['p1', 8], ['P2', 5], ['P3', 3], ['7', 7], [0, 1], [99, 10], [6.6, 7],
  ])('priority %j → %i', (given, number) => {
    expect(one({ priority: given }).task?.priority).toBe(number)
  })

  test('a priority that nobody knows is the default, and stays in metadata', () => {
    const { task: found, said } = one({ priority: 'whenever' })
    expect(found?.priority).toBeUndefined()
    expect(found?.metadata).toEqual({ priority: 'whenever' })
    expect(said).toContain('priority "whenever" is not known: the queue\'s default')
  })

  test.each([
    ['pending.json', 'pending'], ['in-progress.json', 'pending'], ['in_progress.json', 'pending'],
    ['completed.json', 'completed'], ['failed.json', 'dead-letter'], ['dead-letter.json', 'dead-letter'],
    ['cancelled.json', 'cancelled'], ['tasks.json', 'pending'],
  ])('%s implies %s', (name, status) => {
    expect(one({}, name).task?.status).toBe(status)
  })

  test("a task's own status counts before the file's name, and that is said", () => {
    const { task: found, said } = one({ status: 'completed' })
    expect(found?.status).toBe('completed')
    expect(said).toContain("say completed in a file named for pending: the task's own word counts")
  })

  test('in progress becomes pending, because its lease is not ours; who held it stays in metadata', () => {
    const { task: found, said } = one({ claimedBy: 'agent-7', claimedAt: '2026-01-01T00:00:00Z' }, 'in-progress.json')
    expect(found).toMatchObject({ status: 'pending', metadata: { claimedBy: 'agent-7', claimedAt: '2026-01-01T00:00:00Z' } })
    expect(said).toContain('in-progress → pending: the lease that an agent had elsewhere is not one here')
  })
})

describe('EV-09: nothing that a task says is lost', () => {
  test('unknown fields stay in metadata beside its own, under a free name', () => {
    const { task: found, said } = one({ metadata: { sprint: 4, owner: 'x' }, owner: 'y', estimate: { hours: 3 } })
    expect(found?.metadata).toEqual({ sprint: 4, owner: 'x', owner_: 'y', estimate: { hours: 3 } })
    expect(said).toContain('fields without a place of their own stay in metadata: estimate, owner')
  })

  test('a field named __proto__ is data like any other', () => {
    const file = read('[{"id":"a","type":"dev","__proto__":{"polluted":true}}]')
    expect(JSON.stringify(file.found[0]?.task.metadata)).toBe('{"__proto__":{"polluted":true}}')
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })

  test('numeric ids become texts, in dependencies too', () => {
    const file = read([{ id: 1, type: 'dev' }, { id: 2, type: 'dev', dependencies: [1] }])
    expect(file.found.map(({ task: { id, dependencies } }) => [id, dependencies])).toEqual([['1', undefined], ['2', ['1']]])
  })

  test('a description stays, one that is too long whole in metadata', () => {
    expect(one({ description: 'short' }).task?.description).toBe('short')
    const long = 'x'.repeat(5_000)
    const { task: found } = one({ description: long })
    expect(found?.description).toHaveLength(4_000)
    expect(found?.metadata).toEqual({ description: long })
  })

  test('what became of a finished task comes along: result, times, retries, error', () => {
    const { task: found } = one({
      completedAt: '2026-01-02T00:00:00Z', createdAt: '2026-01-01T00:00:00Z', retries: 2, lastError: 'once',
      result: { status: 'success', output: 'done', decisionReport: { why: 'because' }, filesChanged: 3 },
    }, 'completed.json')
    expect(found).toMatchObject({
      status: 'completed', completedAt: '2026-01-02T00:00:00.000Z', createdAt: '2026-01-01T00:00:00.000Z', retries: 2, lastError: 'once',
      result: { status: 'success', output: 'done', decisionReport: { why: 'because' } },
      metadata: { result: { filesChanged: 3 } },
    })
  })

  test.each([
    ['timeout', -5], ['maxRetries', 'many'], ['availableAt', '120'], ['availableAt', '2026-02-30T00:00:00Z'], ['deadlineAt', '2026-04-31'], ['phase', 'ship'], ['requires', 'typescript'],
  ])('%s: %j cannot be used, and stays in metadata', (field, value) => {
    const { task: found } = one({ [field]: value })
    expect(found).not.toHaveProperty(field)
    expect(found?.metadata).toEqual({ [field]: value })
  })
})

describe('EV-09: what cannot be taken is refused by name, and the rest is taken', () => {
  test.each([
    ['', 'is empty'],
    ['  \n', 'is empty'],
    ['{"tasks":[{"id":"a"', 'breaks off in the middle'],
    ['not json', 'is not JSON'],
    ['{"name":"x"}', 'holds no list of tasks'],
    ['42', 'holds no list of tasks'],
  ])('the file %j %s', (text, why) => {
    const file = read(text, 'broken.json')
    expect(file.found).toEqual([])
    expect(file.refused).toEqual([{ file: 'broken.json', why: expect.stringContaining(why) as string }])
  })

  test.each([
    [null, '#1'], [7, '#1'], [[], '#1'], ['', '#1'],
    [{ id: '#3', type: 'x' }, '#1'], [{ id: '', type: 'x' }, '#1'],
    [{ id: 'b', type: 'eng-*' }, 'b'], [{ id: 'b', status: 'odd' }, 'b'], [{ id: 'b', dependencies: 'a' }, 'b'],
  ])('the task %j', (entry, name) => {
    const file = read([entry, { id: 'a', type: 'dev' }])
    expect(file.found.map((found) => found.task.id)).toEqual(['a'])
    expect(file.refused).toMatchObject([{ file: 'pending.json', task: name }])
  })
})

describe('EV-09: times', () => {
  test.each([
    ['2026-01-31', '2026-01-31T00:00:00.000Z'],
    ['2026-01-31 12:00:00.123456+0200', '2026-01-31T10:00:00.123Z'],
    ['2026-01-31T12:00:00-05', '2026-01-31T17:00:00.000Z'],
    ['2026-01-31t12:00z', '2026-01-31T12:00:00.000Z'],
    ['2026-01-31T12:00', new Date(2026, 0, 31, 12).toISOString()],
    [1_769_860_800, '2026-01-31T12:00:00.000Z'],
  ])('%j is %s', (given, time) => {
    expect(one({ availableAt: given }).task?.availableAt).toBe(time)
  })

  test.each(['completedAt', 'createdAt'])('a %s that does not exist stays in metadata, and it is said', (field) => {
    const { task, said } = one({ status: 'completed', [field]: '2026-02-30T00:00:00Z' }, 'completed.json')
    expect(task).not.toHaveProperty(field)
    expect(task?.metadata).toEqual({ [field]: '2026-02-30T00:00:00Z' })
    expect(said).toContain(`${field} "2026-02-30T00:00:00Z" is no time that exists: it stays in metadata`)
  })
})
