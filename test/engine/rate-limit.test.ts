/** LK-16: an agent that waits after a rate limit is served as soon as the wait is over. In virtual time. */
import { expect, test } from 'vitest'
import { caller, claim, enqueue, isSettled, ok, openQueue, settle, task, typesIn } from '../support/queue.js'
import { useVirtualTime } from '../support/virtual-time.js'

useVirtualTime()

test('LK-16: claims that wait through a slow-down, or of an agent that sleeps, are served at the instant at which it ends', async () => {
  const { engine, store } = await openQueue()
  await engine.submit(enqueue('a', 'b', task('c', { type: 'other' })), caller)
  const [first] = ok(await engine.claim(claim('ann'), caller))
  const error = { message: 'HTTP 429', retryAfter: 40 }
  const limitedAt = Date.now()
  await engine.submit({ type: 'Fail', task: 'a', agent: 'ann', token: first!.token, error, retryable: true, checkpoint: { page: 3 } }, caller)
  const waitFor = (agent: string, types: ReadonlyArray<string>) => engine.claim({ ...claim(agent), types }, { actor: agent }, { waitMs: 300_000 })
  const [sleeper, other] = [waitFor('ann', ['other']), waitFor('bob', ['work'])]
  await settle()
  expect([await isSettled(sleeper), await isSettled(other)]).toEqual([false, false])

  expect(ok(await other)[0]?.task).toBe('b')
  expect(Date.now() - limitedAt).toBeGreaterThanOrEqual(20_000)
  expect(Date.now() - limitedAt).toBeLessThan(40_000)
  expect(await isSettled(sleeper)).toBe(false)
  expect(ok(await sleeper)[0]?.task).toBe('c')
  expect(Date.now() - limitedAt).toBeGreaterThanOrEqual(40_000)
  expect((await typesIn(store)).slice(-3)).toEqual(['AgentResumed', 'TaskDue', 'Claimed'])
  expect(ok(await engine.claim(claim('cy'), caller))).toMatchObject([{ task: 'a', attempt: 1, checkpoint: '{"page":3}' }])
  await engine.close()
})
