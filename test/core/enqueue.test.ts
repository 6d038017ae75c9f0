import { decodeEvent, duplicateOf, headOf, isUnreadable, NewTask, validate } from '@daybook/core'
import { expect, test } from 'vitest'
import { Queue, start, task } from './queue.js'

test('LK-01: a task gets the settings\' defaults for what it does not specify', () => {
  const q = new Queue().enqueue(task('plain'), task('own', { priority: 9, timeout: 30, maxRetries: 0, backoffSeconds: 1, ticketId: 'T-1', phase: 'TESTING' }))
  expect(q.task('plain')).toEqual({
    id: 'plain', number: 1, type: 'work', priority: 5, status: 'pending', idempotencyKey: 'key of plain', dependencies: [],
    timeout: 3_600, maxRetries: 3, backoffSeconds: 60, retries: 0, attempts: 0, attempt: 0, attemptsMax: 3, createdAt: start, skills: [], claimants: [],
    enqueuedRevision: 0, contentRevision: 0, lastRevision: 0,
  })
  expect(q.task('own')).toMatchObject({ priority: 9, timeout: 30, maxRetries: 0, backoffSeconds: 1, ticketId: 'T-1', phase: 'TESTING' })
})

test.each([
  ['M1-001', true],
  ['задача 7', true],
  ['x'.repeat(128), true],
  ['', false],
  ['x'.repeat(129), false],
  ['#42', false],
  ['line\nbreak', false],
  ['\ud800', false],
])('LK-01: the id %j is an id: %s', (id, isId) => {
  expect(validate(NewTask)({ type: 'work', id })._tag).toBe(isId ? 'Right' : 'Left')
})

test('GB-01: tasks are numbered 1, 2, 3, and found by number', () => {
  const q = new Queue().enqueue(task('a'), task('b')).enqueue(task('c'))
  expect(['#1', '#2', '#3'].map((number) => q.task(number).id)).toEqual(['a', 'b', 'c'])
  expect(q.status('#4')).toBeUndefined()
})

test('LK-05: a duplicate of a pending, running or completed task appends nothing and returns its id', () => {
  const q = new Queue().enqueue(task('a', { idempotencyKey: 'k' }))
  const again = { type: 'Enqueue' as const, tasks: [task('b', { idempotencyKey: 'k' })] }
  const told = { id: 'a', number: 1, duplicate: true, duplicateBy: 'key' }
  expect(q.ask(again)).toEqual([{ ...told, status: 'pending' }])
  const { token } = q.claim()
  expect(q.ask(again)).toEqual([{ ...told, status: 'in-progress' }])
  q.complete('a', token)
  expect(q.ask(again)).toMatchObject([{ ...told, status: 'completed' }])
  expect(q.log.length).toBe(3)
})

test('LK-05: dead-lettered, cancelled and discarded tasks do not block a new one', () => {
  const q = new Queue().enqueue(task('a', { idempotencyKey: 'k' }))
  q.kill('a')
  q.enqueue(task('b', { idempotencyKey: 'k' }))
  q.do({ type: 'Cancel', task: 'b', reason: 'r' })
  q.enqueue(task('c', { idempotencyKey: 'k' }))
  expect([q.status('a'), q.status('b'), q.status('c')]).toEqual(['dead-letter', 'cancelled', 'pending'])
  q.do({ type: 'Discard', task: 'a', reviewer: 'r', reason: 'r' })
  expect(duplicateOf(q.state, 'k')?.id).toBe('c')
})

test('LK-05: a completed task blocks its duplicates until its retention is over', () => {
  const q = new Queue().configure({ retentionSeconds: 100 }).enqueue(task('a', { idempotencyKey: 'k' }))
  q.complete('a', q.claim().token)
  q.at += 99_999
  expect(q.ask({ type: 'Enqueue', tasks: [task('b', { idempotencyKey: 'k' })] })[0]).toMatchObject({ id: 'a', duplicate: true })
  q.at += 1
  expect(q.ask({ type: 'Enqueue', tasks: [task('b', { idempotencyKey: 'k' })] })[0]).toMatchObject({ id: 'b', duplicate: false })
})

test('LK-05: a cancelled or discarded task that leaves the state does not remove the key of its successor', () => {
  const key = { idempotencyKey: 'k' }
  const q = new Queue().configure({ retentionSeconds: 60 }).enqueue(task('a', key))
  q.do({ type: 'Cancel', task: 'a', reason: 'r' })
  q.enqueue(task('b', key))
  for (let i = 0; i < 3; i++) {
    q.wait(40)
    expect(q.do({ type: 'Enqueue', tasks: [task(`again${i}`, key)] })).toEqual([])
    q.enqueue(task(`other${i}`))
  }
  expect([q.status('a'), q.status('b')]).toEqual([undefined, 'pending'])
})

test('LK-05: within one request, the first task with a key wins', () => {
  const q = new Queue()
  expect(q.ask({ type: 'Enqueue', tasks: [task('a', { idempotencyKey: 'k' }), task('b', { idempotencyKey: 'k' }), task('a', { idempotencyKey: 'k' })] })).toEqual([
    { id: 'a', number: 1, status: 'pending', duplicate: false },
    { id: 'a', number: 1, status: 'pending', duplicate: true, duplicateBy: 'key' },
    { id: 'a', number: 1, status: 'pending', duplicate: true, duplicateBy: 'id' },
  ])
})

test('LK-05: an id that is in use for other content is a conflict, and the message says what to do', () => {
  const q = new Queue().enqueue(task('a'))
  expect(q.refuse({ type: 'Enqueue', tasks: [task('a', { idempotencyKey: 'other' })] })).toMatchObject({ code: 'conflict', detail: expect.stringContaining('use another id') })
  expect(q.refuse({ type: 'Enqueue', tasks: [task('b'), task('b', { idempotencyKey: 'other' })] }).code).toBe('conflict')
  q.kill('a')
  expect(q.refuse({ type: 'Enqueue', tasks: [task('a')] }).detail).toContain('its id stays taken')
})

test.each(['in the request', 'in the queue'])('LK-05: a dependency on a duplicate of a task %s is refused with the reason', (where) => {
  const detail = 'x depends on c2, but c2 has the same idempotencyKey as c1 and is taken for its duplicate: give it another, or depend on c1'
  const c1 = task('c1', { idempotencyKey: 'k' })
  const q = new Queue()
  if (where === 'in the queue') q.enqueue(c1)
  const tasks = [task('x', { dependencies: ['c2'] }), ...(where === 'in the queue' ? [] : [c1]), task('c2', { idempotencyKey: 'k' })]
  expect(q.refuse({ type: 'Enqueue', tasks })).toMatchObject({ code: 'unknown-dependency', detail })
})

test('LK-01: a task with availableAt is scheduled until then', () => {
  const q = new Queue().enqueue(task('a', { availableAt: start + 60_000 }), task('past', { availableAt: start }))
  expect([q.status('a'), q.status('past')]).toEqual(['scheduled', 'pending'])
  expect(q.wait(59)).toEqual([])
  expect(q.wait(1)).toEqual(['TaskDue'])
  expect(q.status('a')).toBe('pending')
})

test('TQM-ASSIGN-002: a task waits for all its dependencies, and no scan is needed to find it', () => {
  const q = new Queue().enqueue(task('a'), task('b'), task('c', { dependencies: ['a', 'b', 'a'] }))
  expect(q.status('c')).toBe('blocked')
  const { token } = q.claim('ann', { max: 9 })
  expect(q.complete('b', token)).toEqual(['Completed'])
  expect(q.status('c')).toBe('blocked')
  q.complete('a', token - 1)
  expect(q.status('c')).toBe('pending')
})

test('TQM-ASSIGN-002: a dependency that is already completed does not block', () => {
  const q = new Queue().configure({ retentionSeconds: 0 }).enqueue(task('a'), task('b', { dependencies: ['a'] }))
  q.complete('a', q.claim().token)
  q.enqueue(task('c', { dependencies: ['b'] }))
  expect([q.status('a'), q.status('b'), q.status('c')]).toEqual([undefined, 'pending', 'blocked'])
})

test('TQM-ASSIGN-002: a task with dependencies and availableAt waits for both', () => {
  const q = new Queue().enqueue(task('a'), task('b', { dependencies: ['a'], availableAt: start + 5_000 }))
  expect(q.status('b')).toBe('blocked')
  q.complete('a', q.claim().token)
  expect(q.status('b')).toBe('scheduled')
})

test.each([
  ['unknown', [task('x', { dependencies: ['nowhere'] })], 'unknown-dependency', 'nowhere'],
  ['on itself', [task('x', { dependencies: ['x'] })], 'dependency-cycle', 'x → x'],
  ['a cycle of two', [task('x', { dependencies: ['y'] }), task('y', { dependencies: ['x'] })], 'dependency-cycle', 'x → y → x'],
  ['a cycle behind a stem', [task('s', { dependencies: ['x'] }), task('x', { dependencies: ['y'] }), task('y', { dependencies: ['x'] })], 'dependency-cycle', 'x → y → x'],
  ['on a cancelled task', [task('x', { dependencies: ['dead'] })], 'unknown-dependency', 'will never complete'],
] as const)('TQM-ASSIGN-002: refused at enqueue: %s', (_, tasks, code, detail) => {
  const q = new Queue().enqueue(task('dead'))
  q.do({ type: 'Cancel', task: 'dead', reason: 'r' })
  expect(q.refuse({ type: 'Enqueue', tasks: [task('fine'), ...tasks] })).toMatchObject({ code, detail: expect.stringContaining(detail) })
  expect(q.status('fine')).toBeUndefined()
})

test('TQM-ASSIGN-002: within one request the order of tasks does not matter, and a chain of ten thousand is no problem', () => {
  const chain = Array.from({ length: 10_000 }, (_, i) => task(`t${i}`, i === 9_999 ? {} : { dependencies: [`t${i + 1}`] }))
  const q = new Queue().enqueue(...chain)
  expect(q.claim().ids).toEqual(['t9999'])
  expect(headOf(q.state).lastNumber).toBe(10_000)
})

test('EV-09: tasks are imported with their status, and known ones are skipped', () => {
  const q = new Queue().enqueue(task('known'))
  const told = q.ask({
    type: 'Import',
    tasks: [
      { ...task('known', { idempotencyKey: 'other' }), status: 'completed' },
      { ...task('done'), status: 'completed', createdAt: start - 9, finishedAt: start - 5, retries: 1 },
      { ...task('dead'), status: 'dead-letter', lastError: 'x', retries: 3 },
      { ...task('open', { dependencies: ['done'] }), status: 'pending' },
    ],
  })
  expect(told.map(({ id, status, duplicate }) => [id, status, duplicate])).toEqual([
    ['known', 'pending', true],
    ['done', 'completed', false],
    ['dead', 'dead-letter', false],
    ['open', 'pending', false],
  ])
  expect(q.task('dead')).toMatchObject({ retries: 3, lastError: 'x', deadLetterReason: 'imported' })
})

test('EV-09: an imported cancelled task does not block a pending one with the same key', () => {
  const q = new Queue()
  q.do({ type: 'Import', tasks: [{ ...task('old', { idempotencyKey: 'k' }), status: 'cancelled' }, { ...task('new', { idempotencyKey: 'k' }), status: 'pending' }] })
  expect([q.status('old'), q.status('new')]).toEqual(['cancelled', 'pending'])
})

test('EV-09: an import that would wait for ever is refused as a whole', () => {
  const tasks = [{ ...task('gone'), status: 'cancelled' as const }, { ...task('next', { dependencies: ['gone'] }), status: 'pending' as const }]
  expect(new Queue().refuse({ type: 'Import', tasks })).toMatchObject({ code: 'unknown-dependency', detail: expect.stringContaining('gone') })
})

test('EV-09: with a retention of 0 the reply still has the imported tasks', () => {
  const q = new Queue().configure({ retentionSeconds: 0 })
  const told = q.ask({ type: 'Import', tasks: [{ ...task('a'), status: 'completed' }, { ...task('b'), status: 'cancelled' }] })
  expect(told.map(({ id, number, status }) => [id, number, status])).toEqual([['a', 1, 'completed'], ['b', 2, 'cancelled']])
})

test('LK-01: a task type whose name equals another type with its requirements is a different type', () => {
  const type = JSON.stringify(['work', null, [], 'acme'])
  const q = new Queue().enqueue(task('a', { tenant: 'acme' }), task('b', { type }))
  expect([q.task('a').type, q.task('b').type, q.task('b').tenant]).toEqual(['work', type, undefined])
  expect(q.log.every(({ type: name, at, data }) => !isUnreadable(decodeEvent(name, 1, at, data)))).toBe(true)
})
