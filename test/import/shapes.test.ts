import { planImport, readQueueFile } from '@daybook/adapters/import'
import { describe, expect, test } from 'vitest'

const read = (value: unknown, name = 'pending.json') => readQueueFile(typeof value === 'string' ? value : JSON.stringify(value), name)
const one = (fields: object, name = 'pending.json') => {
  const file = read([{ id: 'a', type: 'dev', ...fields }], name)
  expect(file.refused).toEqual([])
  return { task: file.found[0]?.task, said: file.mapped.map((mapped) => mapped.what) }
}

describe('EV-09: queue files in every shape found in practice', () => {
  const task = { id: 'a', type: 'dev' }
  test.each([
    ['{"tasks":[…]}', { tasks: [task] }],
    ['{"queue":[…]}', { queue: [task] }],
    ['a bare array', [task]],
    ['with a byte order mark', `\ufeff${JSON.stringify([task])}`],
  ])('%s', (_, value) => {
    expect(read(value).found.map(({ task: { id, type } }) => ({ id, type }))).toEqual([task])
  })

  test('an array of texts: each is a task of type "task" with that description, and always the same id', () => {
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
    ['P0', 10], ['p1', 8], ['P2', 5], ['P3', 3], ['P4', 1], ['7', 7], [0, 1], [-3, 1], [6.6, 7],
  ])('priority %j → %i', (given, number) => {
    expect(planImport([read([{ id: 'a', type: 'dev', priority: given }])]).took[0]?.priority).toBe(number)
  })

  test.each(['id', 'type', 'status', 'priority', 'error', 'timeout', 'dependencies', 'createdAt', 'payload', 'someday'])('a value that is nested too deeply as %s refuses its entry alone', (field) => {
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
    const { found, refused } = read(`[{"id":"a","status":"failed","${field}":${deep}},{"id":"b"}]`)
    expect(found.map(({ task: { id } }) => id)).toEqual(['b'])
    expect(refused).toEqual([expect.objectContaining({ task: '#1', why: expect.stringMatching(/: nested deeper than 64 levels$/) as string })])
  })

  test.each([{ toString: 1 }, ['done'], true, 7])('a status that is no text (%j) refuses its entry alone', (status) => {
    const { found, refused } = read([{ id: 'a', status }, { id: 'b' }])
    expect(found.map(({ task: { id } }) => id)).toEqual(['b'])
    expect(refused).toEqual([expect.objectContaining({ task: 'a', why: `status ${JSON.stringify(status)} is not known: it cannot be told whether the task is done` })])
  })

  test.each([
    ['keyed tasks, one named like the beginning of another', '{"tasks":{"T-1":{},"T-1.1":{"payload":{"n":0.12345678901234567890}}}}', ['T-1'], 'T-1.1'],
    ['a keyed task with brackets in its name', '{"tasks":{"T[x]":{"payload":{"n":0.12345678901234567890}}}}', [], 'T[x]'],
    ['a list with brackets in its name', '{"tasks[]":[{"id":"b"},{"id":"a","payload":{"n":0.12345678901234567890}}]}', ['b'], 'a'],
  ])('an inexact number refuses its entry alone: %s', (_, text, taken, left) => {
    const { found, refused } = read(text)
    expect(found.map(({ task: { id } }) => id)).toEqual(taken)
    expect(refused).toEqual([expect.objectContaining({ task: left, why: expect.stringMatching(/^payload\.n: 0\.123/) as string })])
  })

  test('an unknown priority becomes the default, and stays in metadata', () => {
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

  test("a task's own status overrides the file's name, and that is reported", () => {
    const { task: found, said } = one({ status: 'completed' })
    expect(found?.status).toBe('completed')
    expect(said).toContain("say completed in a file named for pending: the task's own word counts")
  })

  test('in progress becomes pending, because its lease is not ours; its holder stays in metadata', () => {
    const { task: found, said } = one({ claimedBy: 'agent-7', claimedAt: '2026-01-01T00:00:00Z' }, 'in-progress.json')
    expect(found).toMatchObject({ status: 'pending', metadata: { claimedBy: 'agent-7', claimedAt: '2026-01-01T00:00:00Z' } })
    expect(said).toContain('in-progress → pending: the lease that an agent had elsewhere is not one here')
  })
})

describe('EV-09: tasks in named lists of one file', () => {
  const ofLists = (lists: object, name = 'queue.json') => {
    const file = read(lists, name)
    return { ...file, stood: Object.fromEntries(file.found.map(({ task: { id, status } }) => [id, status])) }
  }

  test('every list whose name means a status is taken, and its tasks have that status', () => {
    const ten = Array.from({ length: 10 }, (_, i) => ({ id: `c${i}`, type: 'dev' }))
    const { stood, refused, entries } = ofLists({ queue: [], claimed: [{ id: 'k' }], completed: ten, failed_tasks: [{ id: 'f' }], skippedTasks: [{ id: 's' }], 'in-progress': ['write it'] })
    expect(refused).toEqual([])
    expect(entries).toBe(14)
    expect(Object.values(stood).sort()).toEqual([...Array<string>(10).fill('completed'), 'cancelled', 'dead-letter', 'pending', 'pending'].sort())
  })

  test("a task's own status overrides its list's, which overrides the file's; both are reported", () => {
    const { stood, mapped } = ofLists({ completed: [{ id: 'a', status: 'pending' }, { id: 'b' }] }, 'pending.json')
    expect(stood).toEqual({ a: 'pending', b: 'completed' })
    expect(mapped.map(({ what }) => what)).toEqual(expect.arrayContaining([
      "say pending in a list named for completed: the task's own word counts",
      'stand in a list named for completed, in a file named for pending: the list counts',
    ]))
  })

  test('a list with an unknown name is left out by name, with advice; the file\'s own fields are not reported', () => {
    const { found, refused, mapped, entries } = ofLists({ tasks: [{ id: 'a' }], urgent: [{ id: 'b' }, { id: 'c' }], notes: ['one', 'two'], updatedAt: '2026-01-01', archive: [] })
    expect(found.map(({ task: { id } }) => id)).toEqual(['a'])
    expect(refused).toEqual([{ file: 'queue.json', why: expect.stringMatching(/^the list "urgent" is left out \(2 entries\): .*rename it to tasks/) as string, tasks: 2 }])
    expect(entries).toBe(3)
    expect(mapped.map(({ what }) => what)).toContain("the file's own fields are no tasks, and were left: archive, notes, updatedAt")
  })

  test('tasks in an object by their ids', () => {
    expect(ofLists({ tasks: { a: { status: 'done' }, b: { id: 'own', type: 'x' } } }).stood).toEqual({ a: 'completed', own: 'pending' })
  })

  test('a list that is in the file twice, and a task that is twice under one id, are left out by name: of two members with one name, a reader of JSON gets the last', () => {
    const twice = read('{"tasks":[{"id":"a"}],"version":1,"version":2,"tasks":[{"id":"b","x":1,"x":2}]}', 'queue.json')
    expect(twice.found.map(({ task: { id } }) => id)).toEqual(['b'])
    expect(twice.refused).toEqual([{ file: 'queue.json', why: expect.stringMatching(/^the list "tasks" is there more than once, and only the last one is read/) as string, tasks: 0 }])
    const byId = read('{"tasks":{"a":{"n":1},"\\u0061":{"n":2},"b":{"n":3,"n":4}}}', 'queue.json')
    expect(byId.found.map(({ task: { id } }) => id)).toEqual(['a', 'b'])
    expect(byId.entries).toBe(3)
    expect(byId.refused).toEqual([{ file: 'queue.json', task: 'a', why: expect.stringMatching(/^is there more than once under this id/) as string, tasks: 1 }])
  })

  test('an object under the name of a list that is not one of tasks by their ids is left out by name, if it may contain tasks', () => {
    const left = (name: string, tasks: number) => [{ file: 'queue.json', why: expect.stringMatching(`^"${name}" is left out`) as string, tasks }]
    expect(ofLists({ pending: [{ id: 'a' }], completed: { b: { type: 'x' }, c: 'write the docs' } })).toMatchObject({ stood: { a: 'pending' }, refused: left('completed', 2), entries: 3 })
    expect(ofLists({ tasks: [], queue: { pending: [{ id: 'a' }] } }).refused).toEqual(left('queue', 1))
    expect(ofLists({ tasks: [], queue: { name: 'main', agents: 3 }, completed: 7, open: true }).refused).toEqual([])
  })

  test('lists of tasks within an object of an unknown name are left out by its name, and the report does not say that they are no tasks', () => {
    const inside = (given: object) => ofLists({ tasks: [{ id: 'a' }], ...given })
    const left = (name: string, tasks: number) => [{ file: 'queue.json', why: expect.stringMatching(`^the lists within "${name}" are left out`) as string, tasks }]
    expect(inside({ archive: { tasks: [{ id: 'b' }], completed: [{ id: 'c' }] } })).toMatchObject({ stood: { a: 'pending' }, refused: left('archive', 2), entries: 3 })
    expect(inside({ phases: { one: { tasks: [{ id: 'b' }] } } }).refused).toEqual(left('phases', 1))
    expect(ofLists({ data: { tasks: [{ id: 'b' }] } })).toMatchObject({ isQueueFile: false, refused: left('data', 1) })
    expect(inside({ counts: { pending: 3, done: [] }, by: { completed: ['a'], names: [{ id: 'b' }] } }).refused).toEqual([])
  })

  test('an entry that is refused is named by its list', () => {
    expect(ofLists({ queue: [{ id: 'a' }], completed: [{ id: 'b' }, 7] }).refused).toMatchObject([{ task: '#2 of completed' }])
  })
})

describe('EV-09: statuses in many words', () => {
  test.each([
    ['IN_PROGRESS', 'pending'], ['claimed', 'pending'], ['blocked', 'pending'], ['todo', 'pending'], ['Done', 'completed'], ['shipped', 'completed'],
    ['failed', 'dead-letter'], ['error', 'dead-letter'], ['skipped', 'cancelled'], ['canceled', 'cancelled'], ["won't fix", 'cancelled'], ['later', undefined],
  ])('%s is %s', (status, stood) => {
    expect(read([{ id: 'a', status }]).found.map(({ task }) => task.status)).toEqual(stood === undefined ? [] : [stood])
  })

  test('skipped is cancelled, and its reason and time are kept', () => {
    const { task: found, said } = one({ status: 'skipped', skipped_at: '2026-01-31T22:00:00+07:00', reason: 'User requested skip' })
    expect(found).toMatchObject({ status: 'cancelled', completedAt: '2026-01-31T15:00:00.000Z', metadata: { reason: 'User requested skip' } })
    expect(said).toContain('skipped → cancelled')
  })

  test('blocked_by_C1 names a dependency', () => {
    expect(one({ status: 'blocked_by_C1' }).task).toMatchObject({ status: 'pending', dependencies: ['C1'] })
    expect(one({ status: 'blocked by: C 2' }).task).toMatchObject({ dependencies: ['C 2'] })
  })
})

describe('EV-09: fields by any of their names, in any spelling', () => {
  const day = '2026-01-31T00:00:00.000Z'
  const bare = (fields: object, file?: string) => {
    const { metadata: _, ...task } = read([fields], file).found[0]?.task ?? {}
    return task
  }
  const spellings = (name: string): ReadonlyArray<string> => {
    const words = name.split(/(?=[A-Z])/).map((word) => word.toLowerCase())
    return [...new Set([name, words.join('_'), words.join('-'), words.join('_').toUpperCase(), words.join(' '), words.join('')])]
  }
  const rows: ReadonlyArray<readonly [own: string, names: ReadonlyArray<string>, value: unknown, file?: string]> = [
    ['id', ['taskId'], 'x'],
    ['type', ['taskType', 'agentType'], 'eng'],
    ['status', ['state', 'taskStatus'], 'completed'],
    ['description', ['title', 'taskName', 'name'], 'text'],
    ['priority', ['prio'], 'high'],
    ['idempotencyKey', [], 'k'],
    ['dependencies', ['dependsOn', 'deps', 'blockedBy', 'blockers', 'prerequisites'], ['b', 'c']],
    ['dependencies', ['dependsOn', 'blockedBy'], 'b'],
    ['dependencies', ['dependsOn', 'blockedBy'], [{ id: 'b' }, { task_id: 7 }]],
    ['timeout', ['timeoutSeconds'], 60],
    ['maxRetries', [], 2],
    ['backoffSeconds', ['backoff'], 5],
    ['availableAt', ['scheduledAt', 'notBefore'], day],
    ['deadlineAt', ['deadline', 'dueAt', 'due', 'dueDate'], day],
    ['ticketId', ['ticket'], 'T-1'],
    ['tenant', ['tenantId'], 'acme'],
    ['parentTaskId', ['parentTask', 'parentId', 'parent'], 'p'],
    ['createdAt', ['created', 'enqueuedAt', 'queuedAt'], day, 'completed.json'],
    ['completedAt', ['completed', 'finishedAt', 'finished', 'cancelledAt', 'skippedAt', 'failedAt', 'deadLetteredAt'], day, 'completed.json'],
    ['retries', ['retryCount'], 3, 'failed.json'],
    ['lastError', ['error', 'errorMessage', 'failureReason'], 'no', 'failed.json'],
    ['result', [], { output: 1 }, 'completed.json'],
  ]
  test.each(rows.map(([own, names, value, file]) => [own, names.join(', '), names, value, file] as const))('%s: %s', (own, _, names, value, file) => {
    const fields = own === 'id' ? { type: 'dev' } : own === 'type' ? { id: 'a' } : { id: 'a', type: 'dev' }
    const expected = bare({ ...fields, [own]: value }, file)
    expect(expected).toHaveProperty(own)
    for (const name of [own, ...names].flatMap(spellings)) expect([name, bare({ ...fields, [name]: value }, file)]).toEqual([name, expected])
  })

  test('the first of several names counts, the others stay in metadata', () => {
    expect(one({ title: 'short', description: 'long', name: 'n', completed_at: day, completedAt: day }, 'completed.json').task).toMatchObject({
      description: 'long', completedAt: day, metadata: { title: 'short', name: 'n', completedAt: day },
    })
  })

  test('holder, claim time and unknown fields are kept unchanged', () => {
    const past = { claimed_by: 'agent-7', started: '2026-02-11T20:52:51+08:00', spec: { files: ['a.ts'] }, none: null }
    expect(one(past, 'in-progress.json').task?.metadata).toEqual(past)
  })

  test.each(['depends_on', 'dependsOn', 'blockedBy', 'blocked_by', 'blockers'])('an unreadable %s refuses the task by name: it must not run before its dependencies', (field) => {
    expect(read([{ id: 'a', [field]: [{ at: 1 }] }])).toMatchObject({ found: [], refused: [{ task: 'a', why: `${field} [{"at":1}] are not task ids`, tasks: 1 }] })
  })
})

describe('EV-09: nothing that a task says is lost', () => {
  test('unknown fields are kept in metadata next to its own, under a free name', () => {
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

  test('a description is kept; one that is too long is kept in full in metadata', () => {
    expect(one({ description: 'short' }).task?.description).toBe('short')
    const long = 'x'.repeat(5_000)
    const { task: found } = one({ description: long })
    expect(found?.description).toHaveLength(4_000)
    expect(found?.metadata).toEqual({ description: long })
  })

  test('a description that is too long is not cut in the middle of a character, which the queue would refuse', () => {
    expect(one({ description: '😀'.repeat(3_000) }).task?.description).toBe(`${'😀'.repeat(1_999)}…`)
  })

  test('result, times, retries and error of a finished task are taken', () => {
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

describe('EV-09: invalid tasks are refused by name, and the others are taken', () => {
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
    expect(file.refused).toEqual([{ file: 'broken.json', why: expect.stringContaining(why) as string, tasks: 0 }])
  })

  test.each([
    [null, '#1'], [7, '#1'], [[], '#1'], ['', '#1'],
    [{ id: '#3', type: 'x' }, '#1'], [{ id: '', type: 'x' }, '#1'],
    [{ id: 'b', type: 'eng-*' }, 'b'], [{ id: 'b', status: 'odd' }, 'b'], [{ id: 'b', dependencies: [{ at: 1 }] }, 'b'],
  ])('the task %j', (entry, name) => {
    const file = read([entry, { id: 'a', type: 'dev' }])
    expect(file.found.map((found) => found.task.id)).toEqual(['a'])
    expect(file.refused).toMatchObject([{ file: 'pending.json', task: name }])
  })
})

describe('EV-09: a number that would be rounded refuses its task, with the path, and no other task', () => {
  const big = '{"id":"a","payload":{"n":[1,9007199254740993]}}'
  test.each([
    [`[{"id":"b"},${big}]`, 'payload.n[1]'],
    [`{"queue":[],"completed":[{"id":"b"},${big}]}`, 'payload.n[1]'],
    [`{"tasks":{"b":{},"a":${big}}}`, 'payload.n[1]'],
    [`[{"id":"b"},{"id":"a","priority":1e400}]`, 'priority'],
  ])('%s', (text, path) => {
    const { found, refused } = read(text)
    expect(found.map(({ task: { id } }) => id)).toEqual(['b'])
    expect(refused).toEqual([{ file: 'pending.json', task: 'a', why: expect.stringContaining(`${path}: `) as string, tasks: 1 }])
  })

  test('a text of millions of characters beside it does not make the whole file unreadable', () => {
    const file = read(`[{"id":"a","payload":"${'y'.repeat(20_000_000)}"},{"id":"b","payload":"${'\\\\\\"'.repeat(3_000_000)}"},{"id":"c","payload":9007199254740993}]`)
    expect([file.found.map(({ task: { id } }) => id), file.refused.map(({ task }) => task)]).toEqual([['a', 'b'], ['c']])
  })

  test('if it is the id, the task is named by its place', () => {
    expect(read('[{"id":9007199254740993},{"id":9007199254740991}]')).toMatchObject({ found: [{ task: { id: '9007199254740991' } }], refused: [{ task: '#1' }] })
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

  test.each(['completedAt', 'createdAt'])('a %s that does not exist stays in metadata, and is reported', (field) => {
    const { task, said } = one({ status: 'completed', [field]: '2026-02-30T00:00:00Z' }, 'completed.json')
    expect(task).not.toHaveProperty(field)
    expect(task?.metadata).toEqual({ [field]: '2026-02-30T00:00:00Z' })
    expect(said).toContain(`${field} "2026-02-30T00:00:00Z" is no time that exists: it stays in metadata`)
  })

  test.each(['completedAt', 'createdAt'])('a %s in the future, which counts as the time of the import, is reported and stays in metadata', (field) => {
    const { task, said } = one({ status: 'completed', [field]: '2199-01-31T00:00:00Z' }, 'completed.json')
    expect(task?.metadata).toEqual({ [field]: '2199-01-31T00:00:00Z' })
    expect(said).toContain(`${field} is in the future: the time of the import counts, and it stays in metadata`)
    expect(one({ status: 'completed', [field]: '2020-01-31T00:00:00Z' }, 'completed.json').said.join()).not.toContain('future')
  })
})
