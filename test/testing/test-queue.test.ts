/** The point of this file: a test with a queue is quick, says what is wrong, and its clock moves only when the test moves it. */
import { type HandlerContext, PermanentError, Release } from '@daybook/client/worker'
import { createTestQueue, type TestQueue, type TestQueueOptions } from '@daybook/testing'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { inTime } from '../support/in-time.js'

const minute = 60_000
const start = '2026-03-01T12:00:00.000Z'
const opened: Array<TestQueue> = []
const open = async (options: TestQueueOptions = {}): Promise<TestQueue> => {
  const queue = await createTestQueue({ now: start, settings: { decisionReport: 'optional' }, ...options })
  opened.push(queue)
  return queue
}
afterEach(async () => {
  await Promise.all(opened.splice(0).map((queue) => queue.close()))
})

test('settings that do not exist are refused', async () => {
  await expect(open({ settings: { decisionreport: 'optional' } as never })).rejects.toMatchObject({ code: 'invalid', detail: expect.stringContaining('decisionReport') })
})

test('a first time that is none is refused', async () => {
  await expect(open({ now: 'yesterday' })).rejects.toThrow(new RangeError('now must be a time, and not yesterday'))
  // At 0 every task that finishes is forgotten at once.
  for (const now of [0, -1, new Date(0)]) await expect(open({ now })).rejects.toThrow(/^now must be after 1970-01-01T00:00:00.000Z, and not 19/)
})

describe('the clock', () => {
  test('begins where the test says, and stands still until it is moved', async () => {
    const queue = await open()
    await queue.client.enqueue({ id: 'a', type: 'mail' })
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect((await queue.client.task('a')).createdAt).toBe(start)
    await queue.advance(90_000)
    expect(queue.now().toISOString()).toBe('2026-03-01T12:01:30.000Z')
    await expect(async () => queue.advance(-1)).rejects.toThrow(RangeError)
    await expect(async () => queue.advance(Number.POSITIVE_INFINITY)).rejects.toThrow(RangeError)
  })

  test('a delayed task is ready exactly at its time', async () => {
    const queue = await open()
    await queue.client.enqueue({ id: 'later', type: 'mail', availableAt: new Date(Date.parse(start) + minute) })
    await queue.advance(minute - 1)
    expect((await queue.client.task('later')).status).toBe('scheduled')
    await queue.advance(1)
    expect((await queue.client.task('later')).status).toBe('pending')
  })

  test('a lease ends, and a heartbeat extends it', async () => {
    const queue = await open()
    await queue.client.enqueue({ id: 'a', type: 'mail' })
    const [claim] = await queue.client.claim({ agentId: 'w', leaseSeconds: 60 })
    const token = claim?.lease.token ?? 0
    await queue.advance(59_000)
    await queue.client.heartbeat('a', { agentId: 'w', token })
    await queue.advance(59_000)
    expect((await queue.client.task('a')).status).toBe('in-progress')
    await queue.advance(1_001)
    await expect(queue.client.complete('a', { agentId: 'w', token, result: {} })).rejects.toMatchObject({ code: 'lease-lost' })
  })

  test('a schedule enqueues each of its runs, and a waiting claim ends by this clock', async () => {
    const queue = await open()
    await queue.client.schedules.create('hourly', { cron: '0 * * * *', task: { type: 'report' } })
    const claiming = queue.client.claim({ agentId: 'w', types: ['other'], wait: 30 })
    await queue.advance(180 * minute)
    expect(await inTime('the claim', claiming)).toEqual([])
    expect((await queue.client.tasks({ type: 'report' })).tasks).toHaveLength(3)
  })

  test('a breaker opens, and lets one task through after its time', async () => {
    const queue = await open({ settings: { decisionReport: 'optional', breakers: { defaults: { failureThreshold: 2, cooldownSeconds: 60, halfOpenAfter: 60 } } } })
    await queue.client.enqueueAll([1, 2, 3].map((n) => ({ id: `t-${n}`, type: 'mail', payload: n })))
    const fails = await queue.drain(() => {
      throw new PermanentError('no')
    })
    expect(fails.runs.map(({ status }) => status)).toEqual(['dead-letter', 'dead-letter'])
    expect((await queue.client.breakers.list()).mail?.state).toBe('open')
    expect((await queue.drain(() => undefined, { advanceMs: 2 * minute })).completed).toBe(1)
  })
})

describe('drain', () => {
  test('runs handlers by type until nothing is ready, and leaves other types alone', async () => {
    const queue = await open()
    await queue.client.enqueueAll([{ type: 'eng-a' }, { type: 'eng-b' }, { id: 'other', type: 'ops' }])
    const seen: Array<string> = []
    const { completed } = await queue.drain({
      'eng-*': async ({ type }) => {
        seen.push(type)
        if (type === 'eng-a') await queue.client.enqueue({ type: 'exact' })
      },
      exact: ({ type }) => void seen.push(`${type}!`),
    })
    expect(completed).toBe(3)
    expect(seen).toEqual(['eng-a', 'eng-b', 'exact!'])
    expect((await queue.client.task('other')).status).toBe('pending')
  })

  test('goes through retries if the clock may move, no further than necessary', async () => {
    const queue = await open()
    await queue.client.enqueue({ id: 'a', type: 'mail', maxRetries: 3 })
    const flaky = ({ attempt }: { attempt: number }): { output: string } => {
      if (attempt < 3) throw new Error(`attempt ${attempt}`)
      return { output: 'sent' }
    }
    const first = await queue.drain(flaky)
    expect(first.runs).toMatchObject([{ id: 'a', attempt: 1, status: 'scheduled', error: { message: 'attempt 1' } }])
    const rest = await queue.drain(flaky, { advanceMs: 60 * minute })
    expect(rest.runs.map(({ attempt, status }) => [attempt, status])).toEqual([[2, 'scheduled'], [3, 'completed']])
    // Backoff is a minute and then two, without jitter; the timer is one millisecond late each time.
    expect(queue.now().getTime() - Date.parse(start)).toBeLessThan(3 * minute + 10)
  })

  test('moves the clock for tasks that its handlers may get, and not for others, even without a limit', async () => {
    const queue = await open()
    await queue.client.enqueueAll([{ type: 'mail', availableAt: new Date(Date.parse(start) + minute) }, { id: 'other', type: 'ops' }])
    const { completed } = await inTime('the end of the drain', queue.drain({ mail: () => undefined }, { advanceMs: Number.POSITIVE_INFINITY }))
    expect(completed).toBe(1)
    expect(queue.now().getTime() - Date.parse(start)).toBeLessThan(minute + 10)
  })

  test('a checkpoint that the queue refuses rejects, and the lease is kept, as by a worker', async () => {
    const queue = await open()
    await queue.client.enqueue({ id: 'a', type: 'mail' })
    const said: Array<unknown> = []
    const { runs } = await queue.drain(async (_, { checkpoint, signal }) => {
      for (const length of [300_000, 5_000_000]) said.push(await checkpoint('x'.repeat(length)).catch(({ name, message }: Error) => `${name} ${message.slice(0, 9)}`))
      said.push(signal.aborted)
    })
    expect(said).toEqual(['Error too-large', 'Error too-large', false])
    expect(runs).toMatchObject([{ status: 'completed' }])
  })

  test('renews the lease while a handler moves the clock, and keeps checkpoints and progress', async () => {
    const queue = await open()
    await queue.client.enqueue({ id: 'slow', type: 'mail' })
    const { completed } = await queue.drain(async (_, { checkpoint, progress }) => {
      await queue.advance(30 * minute)
      progress('half')
      await checkpoint({ page: 2 })
    })
    expect(completed).toBe(1)
    expect(await queue.client.task('slow')).toMatchObject({ progress: 'half', checkpoint: { page: 2 } })
  })

  test('a task that is cancelled while it runs is lost, and its signal aborts at the next heartbeat', async () => {
    const queue = await open()
    await queue.client.enqueue({ id: 'a', type: 'mail' })
    let reason: unknown
    const { runs } = await queue.drain(async (_, { signal }) => {
      signal.addEventListener('abort', () => (reason = signal.reason))
      await queue.client.cancel('a', 'changed my mind')
      await queue.advance(minute)
    })
    expect(runs).toMatchObject([{ status: 'lost' }])
    expect(String(reason)).toMatch(/LeaseLost.*cancel/)
  })

  test('a released task is not given to the same worker again', async () => {
    const queue = await open()
    await queue.client.enqueue({ id: 'a', type: 'mail' })
    const { runs } = await queue.drain(() => {
      throw new Release('not mine')
    })
    expect(runs).toHaveLength(1)
  })

  test('counts as failed what has failed: an error or success: false, and neither a parking nor a release', async () => {
    const queue = await open()
    await queue.client.enqueueAll(['errs', 'says-so', 'says-it-too', 'throws-nothing', 'parks', 'releases', 'ends'].map((type) => ({ type })))
    const { runs, completed, failed } = await queue.drain({
      errs: () => Promise.reject(new Error('no')),
      'says-so': () => ({ success: false, errors: ['no'] }),
      'says-it-too': () => ({ success: false }),
      'throws-nothing': () => Promise.reject(undefined),
      parks: (_, { park }) => park({ callbackKey: 'k', timeoutSeconds: 60 }),
      releases: (_, { release }) => release('not mine'),
      ends: () => undefined,
    })
    expect({ completed, failed, runs: runs.length }).toEqual({ completed: 1, failed: 4, runs: 7 })
  })

  test.each([
    ['too large', () => ({ output: 'x'.repeat(300_000) }), 'dead-letter', 'the result was refused (too-large)'],
    ['no JSON', () => ({ output: 5n as never }), 'dead-letter', 'the result was refused (invalid)'],
    ['a parking without a key', (_: unknown, { park }: HandlerContext) => park({ callbackKey: '', timeoutSeconds: 60 }), 'dead-letter', 'parking was refused (invalid)'],
  ])('a result that the queue refuses is a failure that says so, as by a worker: %s', async (_, handler, status, said) => {
    const queue = await open()
    await queue.client.enqueue({ id: 'a', type: 'mail' })
    const { runs, failed } = await queue.drain(handler)
    expect({ runs, failed }).toMatchObject({ runs: [{ status }], failed: 1 })
    expect((await queue.client.task('a')).lastError).toContain(said)
  })

  test('an assertion that fails in a handler fails the test', async () => {
    const queue = await open()
    await queue.client.enqueue({ id: 'a', type: 'mail' })
    await expect(queue.drain(() => expect(1).toBe(2))).rejects.toThrow('expected 1 to be 2')
    expect((await queue.client.task('a')).lastError).toContain('expected 1 to be 2')
  })

  test('an endless chain of tasks ends with an error', async () => {
    const queue = await open()
    await queue.client.enqueue({ type: 'loop', payload: 0 })
    const handler = async ({ payload }: { payload: number }): Promise<void> => void (await queue.client.enqueue({ type: 'loop', payload: payload + 1 }))
    await expect(queue.drain(handler, { runsMax: 5 })).rejects.toThrow(/5 runs.*loop/)
  })
})

describe('assertions', () => {
  test('assertEnqueued finds a task by a part of it, finished ones too', async () => {
    const queue = await open()
    await queue.client.enqueue({ id: 'a', type: 'mail', payload: { to: { name: 'Ada', mail: 'ada@example.org' }, lines: [1, 2] }, priority: 'HIGH' })
    await queue.drain(() => undefined)
    expect((await queue.assertEnqueued({ type: 'mail', payload: { to: { name: 'Ada' } } })).id).toBe('a')
    await queue.assertEnqueued({ type: 'mail', payload: { lines: [1, 2] }, status: 'completed' })
    await expect(queue.assertEnqueued({ type: 'mail', payload: { lines: [1] } })).rejects.toThrow()
  })

  test('a time may be wanted as it was enqueued, as a Date', async () => {
    const queue = await open()
    const deadlineAt = new Date(Date.parse(start) + minute)
    await queue.client.enqueue({ id: 'a', type: 'mail', deadlineAt, payload: { at: deadlineAt.toJSON() } })
    expect((await queue.assertEnqueued({ type: 'mail', deadlineAt, payload: { at: deadlineAt } })).id).toBe('a')
    await expect(queue.assertEnqueued({ type: 'mail', deadlineAt: new Date(start) })).rejects.toThrow('no task with type: "mail", deadlineAt: "2026-03-01T12:00:00.000Z"')
  })

  test('and says what was enqueued instead, those of the type first', async () => {
    const queue = await open()
    await expect(queue.assertEnqueued({ type: 'mail' })).rejects.toThrow('no task with type: "mail"; nothing was enqueued')
    await queue.client.enqueueAll([{ id: 'o', type: 'ops' }, { id: 'm', type: 'mail', payload: { to: 'bob@example.org' } }])
    const error = await queue.assertEnqueued({ type: 'mail', payload: { to: 'ada@example.org' } }).catch((thrown: unknown) => thrown as Error)
    expect((error as Error).message).toBe(
      'no task with type: "mail", payload: {"to":"ada@example.org"}; enqueued were:\n  m (pending) type: "mail", payload: {"to":"bob@example.org"}\n  o (pending) type: "ops", payload: null',
    )
    expect(error).toMatchObject({ code: 'ERR_ASSERTION', operator: 'assertEnqueued' })
  })

  test('waitForState waits for the code under test, and says where the task stands', async () => {
    const queue = await open()
    await queue.client.enqueue({ id: 'a', type: 'mail' })
    const waiting = queue.waitForState('a', 'completed')
    await queue.drain(() => ({ output: 1 }))
    expect((await inTime('completed', waiting)).result).toEqual({ output: 1 })
    await expect(queue.waitForState('a', 'cancelled')).rejects.toThrow('task a is completed, not cancelled')
    await queue.client.enqueue({ id: 'b', type: 'mail', availableAt: new Date(Date.parse(start) + minute), payload: 2 })
    await expect(queue.waitForState('b', 'pending', { withinMs: 20 })).rejects.toThrow('task b is scheduled until 2026-03-01T12:01:00.000Z: advance the clock by 60000 ms, not pending')
  })
})

describe('with the fake timers of a test runner', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  test('the queue works, and goes by its own clock', async () => {
    const queue = await open()
    await queue.client.enqueue({ id: 'a', type: 'mail' })
    await queue.advance(minute)
    expect((await queue.drain(() => undefined)).completed).toBe(1)
    expect(queue.now().toISOString()).toBe('2026-03-01T12:01:00.000Z')
  })
})
