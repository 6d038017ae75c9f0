import { namedTasks, planImport, readQueueFile } from '@daybook/adapters/import'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

const files = (byName: Record<string, ReadonlyArray<object>>) =>
  Object.entries(byName).map(([name, tasks]) => readQueueFile(JSON.stringify(tasks.map((task) => ({ type: 'dev', ...task }))), name))
const plan = (byName: Record<string, ReadonlyArray<object>>, known: ReadonlyArray<string> = []) => planImport(files(byName), new Map(known.map((id) => [id, 'pending'])))
const ids = (tasks: ReadonlyArray<{ readonly id: string }>) => tasks.map(({ id }) => id)

describe('EV-09: dependencies', () => {
  test('come in any order, and are taken first', () => {
    const { took, refused } = plan({ 'pending.json': [{ id: 'c', dependencies: ['b', 'a'] }, { id: 'b', dependencies: ['a'] }, { id: 'a' }, { id: 'd' }] })
    expect(ids(took)).toEqual(['a', 'b', 'c', 'd'])
    expect(refused).toEqual([])
  })

  test('a missing dependency refuses its task by name, and the tasks that depend on it; the others are taken', () => {
    const { took, refused } = plan({ 'pending.json': [{ id: 'a', dependencies: ['ghost'] }, { id: 'b', dependencies: ['a'] }, { id: 'c' }] })
    expect(ids(took)).toEqual(['c'])
    expect(refused).toEqual([
      { file: 'pending.json', task: 'a', why: 'depends on ghost, which is in none of the files, nor in the queue', tasks: 1 },
      { file: 'pending.json', task: 'b', why: 'depends on a, which was refused', tasks: 1 },
    ])
  })

  test('a dependency may already be in the queue', () => {
    const given = { 'pending.json': [{ id: 'a', dependencies: ['there'] }] }
    expect(namedTasks(files(given))).toEqual(['there'])
    expect(ids(plan(given, ['there']).took)).toEqual(['a'])
  })

  test('a dependency that is in the queue counts as there, also if its entry is refused now: an earlier import took it', () => {
    const { took, refused } = plan({ 'pending.json': [{ id: 'a', dependencies: ['forgotten'] }, { id: 'b', dependencies: ['a'] }] }, ['a'])
    expect(ids(took)).toEqual(['b'])
    expect(refused.map(({ task }) => task)).toEqual(['a'])
  })

  test('a finished task is taken without its missing dependencies; the list stays in metadata', () => {
    const { took, refused } = plan({ 'completed.json': [{ id: 'a', dependencies: ['ghost', 'b'] }, { id: 'b' }] })
    expect(refused).toEqual([])
    expect(took.find(({ id }) => id === 'a')).toMatchObject({ dependencies: ['b'], metadata: { dependencies: ['ghost', 'b'] } })
  })

  test('a cycle is refused, with all tasks that depend on it', () => {
    const { took, refused } = plan({ 'pending.json': [{ id: 'x', dependencies: ['a'] }, { id: 'a', dependencies: ['b'] }, { id: 'b', dependencies: ['a'] }, { id: 'c' }, { id: 's', dependencies: ['s'] }] })
    expect(ids(took)).toEqual(['c'])
    expect(refused.map(({ task }) => task).sort()).toEqual(['a', 'b', 's', 'x'])
    expect(refused.find(({ task }) => task === 'a')?.why).toBe('depends on itself: a → b → a')
  })

  test('a task that depends on a cancelled one is refused, because it would never start', () => {
    const { took, refused } = plan({ 'cancelled.json': [{ id: 'a' }], 'pending.json': [{ id: 'b', dependencies: ['a'] }] })
    expect(ids(took)).toEqual(['a'])
    expect(refused).toEqual([{ file: 'pending.json', task: 'b', why: 'depends on a, which is cancelled and will never complete', tasks: 1 }])
  })

  test('a cycle of thousands is refused with a short message for each', () => {
    const { took, refused } = plan({ 'pending.json': Array.from({ length: 5_000 }, (_, i) => ({ id: `t${i}`, dependencies: [`t${(i + 1) % 5_000}`] })) })
    expect([took.length, refused.length]).toEqual([0, 5_000])
    expect(refused[0]?.why).toBe('depends on itself: t0 → t1 → t2 → t3 → t4 → t5 → t6 → t7 → t8 → t9 → … (5000 tasks) → t0')
  })

  test('a task that depends on a finished one which names it in turn is taken, because the finished one waits for nothing', () => {
    for (const done of ['completed.json', 'dead-letter.json']) {
      const finished = { [done]: [{ id: 'f', dependencies: ['g', 'a', 'b'] }, { id: 'g' }] }
      const waiting = { 'pending.json': [{ id: 'a', dependencies: ['b'] }, { id: 'b', dependencies: ['f'] }] }
      for (const given of [{ ...finished, ...waiting }, { ...waiting, ...finished }]) {
        const { took, refused } = plan(given)
        expect(refused).toEqual([])
        expect(ids(took)).toEqual(['g', 'f', 'b', 'a'])
        expect(took[1]).toMatchObject({ dependencies: ['g'], metadata: { dependencies: ['g', 'a', 'b'] } })
      }
    }
  })

  test('whatever depends on what: a task is taken if it waits for nothing, or only for tasks that are taken, and these come first', () => {
    const some = fc.array(fc.record({ status: fc.constantFrom('pending', 'pending', 'completed', 'failed'), dependencies: fc.uniqueArray(fc.nat(6), { maxLength: 3 }) }), { minLength: 7, maxLength: 7 })
    fc.assert(fc.property(some, (drawn) => {
      const tasks = drawn.map(({ status, dependencies }, i) => ({ id: `t${i}`, status, dependencies: dependencies.map((n) => `t${n}`) }))
      const startable = new Set(tasks.filter(({ status }) => status !== 'pending').map(({ id }) => id))
      for (const _ of tasks) for (const { id, dependencies } of tasks) if (dependencies.every((each) => startable.has(each))) startable.add(id)
      const { took, refused } = plan({ 'tasks.json': tasks })
      expect(ids(took).sort()).toEqual([...startable].sort())
      expect(took.length + refused.length).toBe(tasks.length)
      took.forEach(({ dependencies = [] }, i) => expect(ids(took.slice(0, i))).toEqual(expect.arrayContaining([...dependencies])))
    }))
  })

  test('150,000 tasks can be refused, more than there is room for on the stack', () => {
    const [file] = files({ 'pending.json': [{ id: 't', dependencies: ['ghost'] }] })
    const found = file!.found.flatMap((one) => Array.from({ length: 150_000 }, (_, i) => ({ ...one, task: { ...one.task, id: `t${i}`, idempotencyKey: `t${i}` } })))
    const { took, refused } = planImport([{ ...file!, entries: found.length, found }])
    expect([took.length, refused.length]).toEqual([0, 150_000])
  })

  test('a chain of 50,000 does not overflow the stack', () => {
    const chain = Array.from({ length: 50_000 }, (_, i) => ({ id: `t${i}`, dependencies: i === 49_999 ? [] : [`t${i + 1}`] }))
    const { took } = plan({ 'pending.json': chain })
    expect(took).toHaveLength(50_000)
    expect(took[0]?.id).toBe('t49999')
  })
})

test('EV-09: what is kept in metadata does not replace a member that the task has there', () => {
  const { took } = plan({
    'pending.json': [
      { id: 'a', idempotencyKey: 'k', metadata: { priority: 'mine' }, priority: 99 },
      { id: 'b', idempotencyKey: 'k', requires: ['a'], metadata: { requires: 'mine', idempotencyKey: 'mine' } },
    ],
    'completed.json': [{ id: 'c', dependencies: ['ghost'], metadata: { dependencies: 'mine' } }],
  })
  expect(Object.fromEntries(took.map(({ id, metadata }) => [id, metadata]))).toEqual({
    a: { priority: 'mine', priority_: 99 },
    b: { requires: 'mine', idempotencyKey: 'mine', idempotencyKey_: 'k' },
    c: { dependencies: 'mine', dependencies_: ['ghost'] },
  })
})

test('LK-04: files that a server is just replacing are named, because a task that moves may be in none of them', () => {
  const file = (name: string, revision: number) => readQueueFile(JSON.stringify({ revision, total: 0, tasks: [] }), name)
  expect(planImport([file('completed.json', 5), file('pending.json', 5)]).refused).toEqual([])
  expect(planImport([file('completed.json', 5), file('pending.json', 9), readQueueFile('[]', 'others.json')]).refused).toEqual([
    { file: 'completed.json', why: 'is of revision 5, and others are of 9: a task that moved in between may be in none of them; let their server write all, or export again, and then import again', tasks: 0 },
  ])
})

describe('EV-09: a possible dependency is one if it names a task', () => {
  const dependenciesOf = (tasks: ReadonlyArray<object>, known: ReadonlyArray<string> = []) => {
    const { took, mapped } = plan({ 'pending.json': tasks }, known)
    return { tasks: Object.fromEntries(took.map(({ id, dependencies, metadata }) => [id, { dependencies, metadata }])), said: mapped.map(({ what }) => what) }
  }

  test('requires: tasks of the files or of the queue', () => {
    const { tasks, said } = dependenciesOf([{ id: 'a', requires: ['b', 'there'] }, { id: 'b' }], ['there'])
    expect(tasks.a).toEqual({ dependencies: ['b', 'there'], metadata: undefined })
    expect(said).toContain('requires names tasks: they are dependencies')
  })

  test('requires: other entries stay in metadata, and are reported', () => {
    const { tasks, said } = dependenciesOf([{ id: 'a', requires: ['typescript', 'b'] }, { id: 'b' }, { id: 'c', requires: 'react' }])
    expect(tasks).toMatchObject({ a: { dependencies: ['b'], metadata: { requires: ['typescript', 'b'] } }, c: { metadata: { requires: 'react' } } })
    expect(tasks.c?.dependencies).toBeUndefined()
    expect(said).toEqual(expect.arrayContaining(['requires names what is no task here, and stays as it is: typescript', 'requires names what is no task here, and stays as it is: react']))
  })

  test('requires: skills stay skills', () => {
    const { took } = plan({ 'pending.json': [{ id: 'a', requires: { skills: ['b'] } }, { id: 'b' }] })
    expect(took.find(({ id }) => id === 'a')).toMatchObject({ requires: { skills: ['b'] } })
    expect(took.find(({ id }) => id === 'a')).not.toHaveProperty('dependencies')
  })

  test('in a payload, which is not changed', () => {
    const { took, mapped } = plan({ 'pending.json': [{ id: 'a', payload: { dependencies: ['b'], n: 1 } }, { id: 'b', payload: { dependencies: { react: '18' } } }] })
    expect(took).toMatchObject([{ id: 'b' }, { id: 'a', dependencies: ['b'], payload: { dependencies: ['b'], n: 1 } }])
    expect(mapped.map(({ what }) => what)).toContain('payload.dependencies names tasks: they are dependencies')
  })

  test('a task that is cancelled in the queue will never complete', () => {
    const { took, refused } = planImport(files({ 'pending.json': [{ id: 'a', dependencies: ['gone'] }] }), new Map([['gone', 'discarded']]))
    expect([took, refused]).toEqual([[], [{ file: 'pending.json', task: 'a', why: 'depends on gone, which is discarded and will never complete', tasks: 1 }]])
  })
})

describe('EV-09: numbers that are ranks', () => {
  const ranked = (numbers: ReadonlyArray<number | string>, options: { readonly ranks?: boolean } = {}, others: Record<string, ReadonlyArray<object>> = {}) =>
    planImport(files({ 'pending.json': numbers.map((priority, i) => ({ id: `t${i}`, priority })), ...others }), new Map(), options)
  const notices = ({ mapped }: ReturnType<typeof ranked>) => mapped.map(({ what }) => what).filter((what) => /ranks/.test(what))

  test('numbers are ranks if any number in any of the files is above 10: 1 comes first; this is reported, and the numbers stay in metadata', () => {
    const result = ranked(Array.from({ length: 29 }, (_, i) => 29 - i), {}, { 'completed.json': [{ id: 'done', priority: 3 }] })
    const pending = result.took.filter(({ status }) => status === 'pending')
    expect(pending.map(({ metadata }) => metadata?.priority)).toEqual(Array.from({ length: 29 }, (_, i) => i + 1))
    const priorities = pending.map(({ priority }) => priority ?? 0)
    expect(priorities).toEqual([...priorities].sort((a, b) => b - a))
    expect([priorities[0], priorities[28]]).toEqual([10, 1])
    expect(result.took.find(({ id }) => id === 'done')).toMatchObject({ priority: 10, metadata: { priority: 3 } })
    expect(notices(result)).toContain('numbers up to 29 stand as priorities: taken as ranks, 1 first, and kept in metadata; --no-ranks takes them as priorities, 10 first')
  })

  test('whatever the numbers, tasks are claimed in the order of ranks, and equal ones in the order of the file', () => {
    fc.assert(fc.property(fc.array(fc.integer({ min: -5, max: 60 }), { maxLength: 40, size: 'max' }), (numbers) => {
      const { took } = ranked(numbers, { ranks: true })
      const claimed = took.map((task, at) => ({ task, at })).sort((a, b) => (b.task.priority ?? 0) - (a.task.priority ?? 0) || a.at - b.at)
      const expected = numbers.map((rank, i) => ({ rank, id: `t${i}` })).sort((a, b) => a.rank - b.rank)
      expect(claimed.map(({ task }) => task.id)).toEqual(expected.map(({ id }) => id))
    }))
  })

  test('--no-ranks: a number above 10 becomes 10, and stays in metadata', () => {
    const result = ranked([3, 99], { ranks: false })
    expect(result.took).toMatchObject([{ priority: 3 }, { priority: 10, metadata: { priority: 99 } }])
    expect(notices(result)).toEqual([])
  })

  test('names are not ranks', () => {
    expect(ranked(['high', 12, 'P0', '20']).took.map(({ priority }) => priority)).toEqual([8, 10, 10, 5])
  })

  test('1, 2, 3 … up to 10 may be either: priorities, with a notice', () => {
    const result = ranked([1, 2, 3, 4])
    expect(result.took.map(({ priority }) => priority)).toEqual([1, 2, 3, 4])
    expect(notices(result)).toEqual([expect.stringContaining('--ranks takes them as ranks') as string])
    expect(notices(ranked([5, 5, 9]))).toEqual([])
  })
})

describe('EV-09: the same task twice', () => {
  test('in two files: the most advanced status counts, whichever comes first', () => {
    const both = { 'pending.json': [{ id: 'a' }, { id: 'b' }], 'completed.json': [{ id: 'a' }], 'dead-letter.json': [{ id: 'b' }] }
    for (const given of [both, Object.fromEntries(Object.entries(both).reverse())]) {
      const { took, mapped, refused } = plan(given)
      expect(Object.fromEntries(took.map(({ id, status }) => [id, status]))).toEqual({ a: 'completed', b: 'dead-letter' })
      expect(refused).toEqual([])
      expect(mapped.map(({ what }) => what)).toContain('stands as completed in completed.json too: that counts, being further than pending')
    }
  })

  test('with the same content: taken once', () => {
    expect(ids(plan({ 'pending.json': [{ id: 'a' }, { id: 'a' }] }).took)).toEqual(['a'])
  })

  test('with other content: the second is refused, not dropped silently', () => {
    const { took, refused } = plan({ 'pending.json': [{ id: 'a', payload: 1 }, { id: 'a', payload: 2 }] })
    expect(took).toMatchObject([{ id: 'a', payload: 1 }])
    expect(refused).toMatchObject([{ task: 'a', why: expect.stringContaining('other content') as string }])
  })

  test('two ids with one idempotency key stay two tasks', () => {
    const { took } = plan({ 'pending.json': [{ id: 'a', idempotencyKey: 'k' }, { id: 'b', idempotencyKey: 'k' }] })
    expect(took).toMatchObject([{ id: 'a', idempotencyKey: 'k' }, { id: 'b', idempotencyKey: 'b', metadata: { idempotencyKey: 'k' } }])
  })
})
