/** daybook restart: one task, and many in their order. */
import { expect, test } from 'vitest'
import { serverOfFile } from './program.js'

const server = serverOfFile()

let last = 0
const newQueue = () => {
  const queue = `r${++last}`
  const on = (...args: ReadonlyArray<string>) => server.daybook([...args, '--queue', queue])
  const json = <T>(...args: ReadonlyArray<string>) => server.json<T>(...args, '--queue', queue)
  const enqueue = async (id: string, ...dependencies: ReadonlyArray<string>): Promise<void> => {
    expect(await on('enqueue', 'step', '--id', id, '--payload', `"${id}"`, ...dependencies.flatMap((each) => ['--depends-on', each]))).toMatchObject({ code: 0 })
  }
  /** The tasks that have `restartOf`, by the id of the old one: the number, the status, and what they wait for, as the old ids of these. */
  const restarts = async () => {
    const { tasks } = await json<{ tasks: ReadonlyArray<{ id: string; number: number; status: string; restartOf?: string; dependencies: ReadonlyArray<string> }> }>('list', '--all')
    const again = [...tasks].sort((a, b) => a.number - b.number).filter(({ restartOf }) => restartOf !== undefined)
    const oldOf = new Map(again.map(({ id, restartOf }) => [id, restartOf]))
    return again.map(({ restartOf, status, dependencies }) => [restartOf, status, dependencies.map((id) => oldOf.get(id) ?? id)])
  }
  return { on, json, enqueue, restarts }
}

test('TQM §11: what was cancelled together is restarted together, in its order, each after the restarts of what it waited for', async () => {
  const { on, enqueue, restarts, json } = newQueue()
  await enqueue('before')
  await enqueue('first')
  await enqueue('second', 'first')
  await enqueue('third', 'second', 'before')
  await on('cancel', 'first', '--reason', 'by mistake')
  const ask = await on('restart', '--status', 'cancelled', '--dry-run')
  expect(ask).toMatchObject({ code: 0, out: '3 tasks would be restarted: first, second, third\n' })
  expect(await restarts()).toEqual([])
  // Nobody can be asked.
  expect(await on('restart', '--status', 'cancelled')).toMatchObject({ code: 2, err: expect.stringContaining('say --yes') as string })
  expect(await json('restart', '--status', 'cancelled', '--yes')).toMatchObject({ count: 3, restarted: [{ restartOf: 'first' }, { restartOf: 'second' }, { restartOf: 'third' }] })
  expect(await restarts()).toEqual([
    ['first', 'pending', []],
    ['second', 'blocked', ['first']],
    ['third', 'blocked', ['before', 'second']],
  ])
  // The same again finds that nothing is left.
  expect(await on('restart', '--status', 'cancelled', '--yes')).toMatchObject({ code: 1, out: 'no task matches that can be restarted; 3 were restarted before\n' })
})

test('TQM §11: a restart of many that broke off goes on, and its tasks wait for those that were restarted before', async () => {
  const { on, enqueue, restarts } = newQueue()
  await enqueue('first')
  await enqueue('second', 'first')
  await on('cancel', 'first', '--reason', 'by mistake')
  await on('restart', 'first')
  expect(await on('restart', '--status', 'cancelled', '--yes')).toMatchObject({ code: 0, out: expect.stringMatching(/^1 task restarted\n/) as string })
  expect(await restarts()).toEqual([['first', 'pending', []], ['second', 'blocked', ['first']]])
})

test('TQM §11: several tasks by their ids, in the order in which they were enqueued; nothing if one of them is not finished', async () => {
  const { on, enqueue, restarts } = newQueue()
  await enqueue('first')
  await enqueue('second', 'first')
  await enqueue('other')
  await on('cancel', 'first', '--reason', 'by mistake')
  expect(await on('restart', 'second', 'other', 'first')).toMatchObject({ code: 2, err: expect.stringContaining('other is pending: only a finished task or a dead letter can be restarted. Nothing was restarted') as string })
  expect(await on('restart', 'second', 'nobody')).toMatchObject({ code: 1 })
  expect(await restarts()).toEqual([])
  expect(await on('restart', '#2', 'first')).toMatchObject({ code: 0, out: expect.stringMatching(/^2 tasks restarted\nOLD +NEW +# +STATUS\nfirst .*4 +pending\nsecond .*5 +blocked\n$/) as string })
  expect(await restarts()).toEqual([['first', 'pending', []], ['second', 'blocked', ['first']]])
})

test('TQM §11: by the time when they were finished', async () => {
  const { on, enqueue, json } = newQueue()
  await enqueue('old')
  await on('cancel', 'old')
  const { finishedAt } = await json<{ finishedAt: string }>('show', 'old')
  while (Date.now() <= Date.parse(finishedAt)) await new Promise((resolve) => setTimeout(resolve, 1))
  await enqueue('new')
  await on('cancel', 'new')
  const { finishedAt: later } = await json<{ finishedAt: string }>('show', 'new')
  const dry = async (...args: ReadonlyArray<string>) => (await on('restart', '--status', 'cancelled', '--dry-run', ...args)).out
  expect(await dry('--finished-after', later)).toBe('1 task would be restarted: new\n')
  expect(await dry('--finished-before', later)).toBe('1 task would be restarted: old\n')
  expect(await dry('--finished-after', '2999-01-01T00:00:00Z')).toBe('no task matches that can be restarted\n')
})

test.each<[ReadonlyArray<string>, string]>([
  [[], 'name a task, or say which with --status: cancelled, completed, discarded, dead-letter'],
  [['--type', 'step'], 'say which with --status'],
  [['a', '--status', 'cancelled'], 'give ids or a filter, not both'],
  [['a', '--dry-run'], '--dry-run goes with --status'],
  [['--status', 'pending'], '--status pending is not known here'],
])('daybook restart %j', async (args, message) => {
  expect(await server.daybook(['restart', ...args])).toMatchObject({ code: 2, err: expect.stringContaining(message) as string })
})
