/** A handler that hangs must not keep its task, nor its place among the running handlers. */
import { describe, expect, test } from 'vitest'
import { createWorker, RunTimeExceeded } from '@daybook/adapters/worker'
import { sleep, until } from './memory-source.js'
import { aborted, accepted, events, source, useTrial, work, worker } from './trial.js'

useTrial()

const forever = (): Promise<never> => new Promise(() => undefined)
const limited = { maxRunSeconds: 0.2, concurrency: 1, prefetchMax: 0 }
const exceeded = (taskId: string) => ({ type: 'run-time-exceeded', taskId, maxRunSeconds: 0.2 })

describe('a handler that runs longer than maxRunSeconds', () => {
  test.each([
    ['returns a result', () => ({ output: 'too late' })],
    ['throws', () => Promise.reject(new Error('aborted'))],
    ['throws the reason', (reason: Error) => Promise.reject(reason)],
  ])('GB-07 is aborted, and its attempt has failed, also if it then %s', async (_, end) => {
    source.add(2)
    const reasons: Array<Error> = []
    work({
      ...limited,
      handler: async ({ number }, { signal }) => {
        if (number === 2) return
        reasons.push(await aborted(signal))
        return end(reasons[0]!)
      },
    })
    await until(() => accepted.length === 2, 'both are handed in')
    expect(reasons).toEqual([expect.any(RunTimeExceeded)])
    expect(source.task('t1').outcomes).toEqual([
      expect.objectContaining({ kind: 'fail', retryable: true, error: { message: 'the handler ran longer than 0.2 s (maxRunSeconds)', code: 'run-time-exceeded' } }),
    ])
    expect(source.task('t2').status).toBe('completed')
    expect(events).toEqual([exceeded('t1')])
    expect(worker.stats()).toMatchObject({ failed: 1, completed: 1, lost: 0, running: 0 })
  })

  test('can still save where it is, for the next attempt', async () => {
    source.add(1)
    let said: unknown
    work({
      ...limited,
      handler: async (_, { signal, checkpoint }) => {
        await aborted(signal)
        said = await checkpoint({ page: 3 }).then(() => 'saved', ({ name }: Error) => name)
      },
    })
    await until(() => accepted.length === 1, 'it has failed')
    expect([said, source.task('t1').checkpoint]).toEqual(['saved', { page: 3 }])
    expect(accepted).toMatchObject([{ kind: 'fail' }])
  })

  test('GB-07 and does not end is abandoned: its failure is reported, its lease is not renewed, and its place is free', async () => {
    source.leaseMs = 2_000
    source.add(1)
    work({ ...limited, handler: ({ number }) => (number === 1 ? forever() : undefined) })
    await until(() => worker.stats().failed === 1, 'the failure is reported')
    expect(source.task('t1').outcomes).toMatchObject([{ kind: 'fail', error: { code: 'run-time-exceeded' } }])
    expect(events).toEqual([exceeded('t1'), { type: 'abandoned', taskId: 't1', reason: 'run-time-exceeded' }])
    const beats = source.heartbeats.length
    expect(beats).toBeGreaterThan(0)
    source.add(1)
    await until(() => source.task('t2').status === 'completed', 'the next one has its place')
    await sleep(2_500)
    expect(source.heartbeats.length).toBe(beats)
    expect(worker.stats()).toMatchObject({ running: 0, buffered: 0, unsettled: 0, lost: 0 })
  })

  test('GB-03 and does not end after it has lost its lease frees its place as well', async () => {
    source.leaseMs = 300
    source.add(2)
    source.refuseHeartbeat = () => ({ ok: false, code: 'lease-lost', detail: 'cancelled' })
    work({ ...limited, maxRunSeconds: 0.6, handler: ({ number }) => (number === 1 ? forever() : undefined) })
    await until(() => events.some(({ type }) => type === 'lease-lost'), 'the lease is lost')
    source.revoke('t1')
    await until(() => source.task('t2').status === 'completed', 'the next one has its place')
    expect(source.task('t1').outcomes).toEqual([])
  })

  test('is stopped with its worker', async () => {
    source.add(1)
    work({ ...limited, handler: forever })
    await until(() => events.length === 1, 'it is overdue')
    await worker.stop({ graceMs: 0 })
    expect(source.task('t1').outcomes).toMatchObject([{ kind: 'fail', error: { code: 'run-time-exceeded' } }])
    expect(worker.stats()).toMatchObject({ state: 'stopped', failed: 1, lost: 0 })
  })
})

describe('a task with its own maxRunSeconds', () => {
  const until1s = { handler: async (_: unknown, { signal }: { readonly signal: AbortSignal }) => Promise.reject(await aborted(signal)) }

  test('is ended shortly before, so that its failure is reported in time, and however often it is extended', async () => {
    source.leaseMs = 300
    source.maxRunSeconds = 2
    source.add(3)
    work({ ...until1s, maxRunSeconds: 60, leaseRenewRatio: 0.2, concurrency: 3, prefetchMax: 0 })
    const began = performance.now()
    await until(() => accepted.length === 3, 'all have failed')
    const tookMs = performance.now() - began
    expect(tookMs).toBeGreaterThanOrEqual(1_890)
    expect(tookMs).toBeLessThan(2_000)
    expect(source.task('t1').outcomes).toMatchObject([{ kind: 'fail', retryable: true, error: { message: 'the handler ran longer than 2 s (maxRunSeconds)', code: 'run-time-exceeded' } }])
    expect(events).toContainEqual({ type: 'run-time-exceeded', taskId: 't1', maxRunSeconds: 2 })
    expect(worker.stats()).toMatchObject({ failed: 3, lost: 0, running: 0 })
  })

  test('counts from its claim, and not from the start of its handler', async () => {
    source.maxRunSeconds = 1
    source.beforeClaimAnswer = () => sleep(600)
    source.add(1)
    let began = 0
    work({ concurrency: 1, prefetchMax: 0, maxRunSeconds: 60, handler: async (_, { signal }) => {
      began = performance.now()
      await aborted(signal)
    } })
    await until(() => accepted.length === 1, 'it has failed')
    expect(accepted).toMatchObject([{ kind: 'fail' }])
    expect(performance.now() - began).toBeLessThan(400)
  })

  test('whose handler hangs is lost at the limit, and its place is free', async () => {
    source.maxRunSeconds = 2
    source.add(1)
    work({ concurrency: 1, prefetchMax: 0, maxRunSeconds: 60, handler: ({ number }) => (number === 1 ? forever() : undefined) })
    await until(() => events.some(({ type }) => type === 'lease-lost'), 'the lease is over')
    expect(events).toContainEqual({ type: 'lease-lost', taskId: 't1', started: true, detail: 'expired: the attempt took longer than maxRunSeconds of the task' })
    source.revoke('t1')
    source.maxRunSeconds = undefined
    source.add(1)
    await until(() => source.task('t2').status === 'completed', 'the next one has its place')
  })

  test('does not outlast the limit of its worker', async () => {
    source.maxRunSeconds = 60
    source.add(1)
    work({ ...limited, ...until1s })
    await until(() => accepted.length === 1, 'it has failed')
    expect(events).toEqual([exceeded('t1')])
  })
})

test('each handler has its own limit, measured from its own start', async () => {
  source.add(30)
  const began = new Map<number, number>()
  work({
    concurrency: 30,
    maxRunSeconds: 0.5,
    handler: async ({ number }, { signal }) => {
      began.set(number, performance.now())
      // Every third handler ends by itself.
      if (number % 3 === 0) return sleep(number)
      await aborted(signal)
      began.set(number, performance.now() - began.get(number)!)
    },
  })
  await sleep(250)
  source.add(30)
  await until(() => accepted.length === 60, 'all are handed in')
  for (const { taskId, kind } of accepted) {
    const { number } = source.task(taskId)
    expect(kind).toBe(number % 3 === 0 ? 'complete' : 'fail')
    if (number % 3 !== 0) expect(began.get(number)).toBeGreaterThanOrEqual(499)
  }
})

test('without a limit a handler may run for ever', () => {
  expect(() => createWorker({ source, handler: () => undefined, maxRunSeconds: Number.POSITIVE_INFINITY })).not.toThrow()
  work({ handler: () => undefined })
  for (const maxRunSeconds of [0, -1, Number.NaN]) {
    expect(() => createWorker({ source, handler: () => undefined, maxRunSeconds })).toThrow(RangeError)
  }
})
