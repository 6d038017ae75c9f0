/** Claims that wait although tasks are ready, because other agents come first for these tasks. Each claim is woken when that changes, and not before. */
import type { CommandOf } from '@daybook/core'
import { expect, test } from 'vitest'
import { caller, claim, complete, configure, enqueue, fail, isSettled, ok, openQueue, settle, sleep, task } from '../support/queue.js'
import { useVirtualTime } from '../support/virtual-time.js'

useVirtualTime()

const hourMs = 3_600_000
const register = (agent: string, more: Omit<CommandOf<'RegisterAgent'>, 'type' | 'agent'> = {}) => ({ type: 'RegisterAgent' as const, agent, ...more })

/** Ann has failed the only task, and waits for it; bob is registered, and does not claim. */
const annWaits = async (ttlSeconds = 7_200) => {
  const { engine, store } = await openQueue()
  const submit = async (command: Parameters<typeof engine.submit>[0]) => ok(await engine.submit(command, caller))
  await submit(enqueue(task('a', { backoffSeconds: 0, maxRetries: 9 })))
  const [held] = ok(await engine.claim(claim('ann'), caller))
  await submit(register('bob', { ttlSeconds }))
  await submit(fail(held!, 'ann'))
  const waiting = engine.claim({ ...claim('ann'), types: ['work'] }, caller, { waitMs: 3 * hourMs })
  await settle()
  expect(await isSettled(waiting)).toBe(false)
  return { engine, store, submit, waiting }
}
type Waiting = Awaited<ReturnType<typeof annWaits>>

const changes: ReadonlyArray<readonly [string, (waits: Waiting) => Promise<unknown>]> = [
  ['the other agent is terminated', ({ submit }) => submit({ type: 'TerminateAgent', agent: 'bob', reason: 'gone' })],
  ['the other agent registers for other tasks', ({ submit }) => submit(register('bob', { types: ['ops'] }))],
  ['a setting says so', ({ submit }) => submit(configure({ assignment: { agentTaskBackoffWindow: 0 } }))],
  [
    'the other agent has as many tasks as it takes',
    async ({ submit, engine, waiting }) => {
      await submit(register('bob', { maxTasks: 1 }))
      expect(await isSettled(waiting)).toBe(false)
      await submit(enqueue(task('b', { type: 'ops' })))
      return engine.claim({ ...claim('bob'), types: ['ops'] }, caller)
    },
  ],
  [
    'the other agent sleeps, because it met a rate limit',
    async ({ submit, engine, waiting }) => {
      await submit(enqueue(task('b', { type: 'ops' })))
      const [held] = ok(await engine.claim({ ...claim('bob'), types: ['ops'] }, caller))
      expect(await isSettled(waiting)).toBe(false)
      return submit({ type: 'Fail', task: 'b', agent: 'bob', token: held!.token, error: { message: '429', retryAfter: 900 }, retryable: true })
    },
  ],
]
test.each(changes)('TQM-ASSIGN-005: a claim that leaves a task to another agent is served when %s', async (_, change) => {
  const waits = await annWaits()
  await change(waits)
  expect(ok(await waits.waiting).map(({ task: id }) => id)).toEqual(['a'])
})

test('TQM-ASSIGN-005: it is served when the task was left to others for long enough, and when the registration of the other agent ends: not a moment earlier', async () => {
  for (const [ttlSeconds, endsInMs] of [[7_200, 60_000], [30, 30_000]] as const) {
    const { engine, store, waiting } = await annWaits(ttlSeconds)
    const { appends } = store
    const before = appends.length
    await sleep(endsInMs - 1_000)
    expect(await isSettled(waiting)).toBe(false)
    // Nothing was tried meanwhile, and nothing was appended.
    expect(appends.length).toBe(before)
    await sleep(1_500)
    expect(await isSettled(waiting)).toBe(true)
    expect(ok(await waiting)[0]?.task).toBe('a')
    await engine.close()
  }
})

test('TQM-CAP-001: a waiting claim of an agent that holds as many tasks as it registered for is served when it has finished one', async () => {
  const { engine } = await openQueue()
  await engine.submit(enqueue('a', 'b', 'c'), caller)
  await engine.submit(register('ann', { maxTasks: 2 }), caller)
  const [first] = ok(await engine.claim(claim('ann', 9), caller))
  const waiting = engine.claim(claim('ann', 9), caller, { waitMs: hourMs })
  await settle()
  expect(await isSettled(waiting)).toBe(false)
  await engine.submit(complete(first!), caller)
  expect(ok(await waiting).map(({ task: id }) => id)).toEqual(['c'])
})

test('TQM-ASSIGN-001: a waiting claim waits for what its agent has registered', async () => {
  const { engine } = await openQueue()
  await engine.submit(register('ann', { types: ['eng-*'], skills: ['go'] }), caller)
  const waiting = engine.claim(claim('ann'), caller, { waitMs: hourMs })
  await engine.submit(enqueue('a'), caller)
  expect(await isSettled(waiting)).toBe(false)
  await engine.submit(enqueue(task('b', { type: 'eng-web', skills: ['go'] })), caller)
  expect(ok(await waiting)[0]?.task).toBe('b')
})

test('TQM-ASSIGN-001: a waiting claim is served when its agent registers for more, and then waits for all of that', async () => {
  const { engine } = await openQueue()
  await engine.submit(register('ann', { types: ['eng-*'] }), caller)
  await engine.submit(enqueue('a'), caller)
  const waiting = engine.claim(claim('ann'), caller, { waitMs: hourMs })
  expect(await isSettled(waiting)).toBe(false)
  await engine.submit(register('ann', { types: ['eng-*', 'work'] }), caller)
  expect(ok(await waiting)[0]?.task).toBe('a')
  const next = engine.claim(claim('ann'), caller, { waitMs: hourMs })
  await settle()
  await engine.submit(register('ann', { types: ['ops'] }), caller)
  await engine.submit(enqueue('b'), caller)
  expect(await isSettled(next)).toBe(false)
  await engine.submit(enqueue(task('c', { type: 'ops' })), caller)
  expect(ok(await next)[0]?.task).toBe('c')
})
