import { describe, expect, test, vi } from 'vitest'
import { createWorker, type HandlerContext, PermanentError, RetryLater, WorkerStopped } from '@daybook/adapters/worker'
import { inTime } from '../support/in-time.js'
import { whileTimeStands } from '../support/virtual-time.js'
import { failing, sleep, until } from './memory-source.js'
import { accepted, events, source, useTrial, work, worker } from './trial.js'

useTrial()

const only = (id: string) => {
  const { outcomes } = source.task(id)
  expect(outcomes.length).toBe(1)
  return outcomes[0]!
}

describe('a worker works', () => {
  test.each([
    { what: 'handlers that return at once', handler: () => undefined },
    { what: 'handlers that await', handler: async () => void (await Promise.resolve()) },
    { what: 'handlers that take their time', handler: () => sleep(Math.random() * 4) },
  ])('LK-07 every task is given to one handler, once, and completed once: $what', async ({ handler }) => {
    source.add(1_000)
    const seen = new Map<string, number>()
    work({
      concurrency: 25,
      handler: async (task) => {
        seen.set(task.id, (seen.get(task.id) ?? 0) + 1)
        await handler()
        return { output: task.payload ?? null }
      },
    })
    await worker.drained()
    expect([...seen.values()].every((times) => times === 1)).toBe(true)
    expect(seen.size).toBe(1_000)
    for (const task of source.tasks.values()) expect(only(task.id)).toMatchObject({ kind: 'complete', result: { output: task.payload } })
    expect(worker.stats()).toMatchObject({ claimed: 1_000, started: 1_000, completed: 1_000, failed: 0, lost: 0, running: 0, buffered: 0, unsettled: 0 })
    expect(events).toEqual([])
  })

  test.each([
    { what: 'at once', handler: () => ({ success: false, errors: 'text' }) },
    { what: 'later', handler: async () => ({ success: false, errors: 'text' }) },
  ])('a result that is none, which JavaScript does not prevent, is a failed attempt: returned $what', async ({ handler }) => {
    const [id] = source.add(1)
    work({ handler: handler as never })
    await inTime('the end', worker.drained())
    expect(source.task(id!).outcomes[0]).toMatchObject({ kind: 'fail', error: { message: expect.stringContaining('is not a function') as string } })
  })

  test('no more handlers run at a time than asked for, and no fewer if there are tasks', async () => {
    source.add(300)
    let running = 0
    let most = 0
    work({
      concurrency: 7,
      handler: async () => {
        most = Math.max(most, ++running)
        await sleep(2)
        running--
      },
    })
    await worker.drained()
    expect(most).toBe(7)
  })

  test('quick tasks are claimed ahead, and their outcomes are sent in batches', async () => {
    source.add(5_000)
    const latency = () => sleep(2)
    source.beforeClaim = latency
    source.beforeSettle = latency
    work({ concurrency: 10, handler: async () => undefined })
    await worker.drained()
    expect(source.claims.length).toBeLessThan(100)
    expect(source.settles.length).toBeLessThan(100)
    expect(source.heldMax).toBeGreaterThan(100)
  })

  test('slow tasks are left to others: hardly any task is held that cannot start soon', async () => {
    source.add(200)
    work({ concurrency: 10, handler: () => sleep(200) })
    let buffered = 0
    for (const end = Date.now() + 1_000; Date.now() < end; await sleep(5)) buffered = Math.max(buffered, worker.stats().buffered)
    expect(worker.stats().started).toBeGreaterThanOrEqual(40)
    // Ten in 200 ms are 2.5 in the 50 ms that the worker looks ahead.
    expect(buffered).toBeLessThanOrEqual(3)
    // The outcomes of ten finished tasks may not be sent yet while the next ten are claimed.
    expect(source.heldMax).toBeLessThanOrEqual(10 + 10 + 3)
  })

  test('with prefetchMax 0 only tasks that can start at once are claimed, so that priorities are strict', async () => {
    source.add(500)
    work({ concurrency: 5, prefetchMax: 0, handler: async () => undefined })
    await until(() => source.count('completed') === 500, 'all is done')
    expect(Math.max(...source.claims.map(({ max }) => max))).toBe(5)
  })

  test('a single outcome is sent at once, without waiting for a batch', async () => {
    work({ handler: () => undefined })
    await until(() => source.waiting === 1, 'the worker waits for work')
    // Whatever waits for a timer now waits for ever.
    await whileTimeStands(async () => {
      for (let i = 0; i < 30; i++) {
        const [id] = source.add(1)
        for (let turn = 0; turn < 20 && source.task(id!).status !== 'completed'; turn++) await new Promise((resolve) => setImmediate(resolve))
        expect(source.task(id!).status).toBe('completed')
      }
    })
  })

  test('a task that does nothing needs neither a timer nor a controller', async () => {
    source.add(2_000)
    const { setTimeout: timeout, AbortController: Controller } = globalThis
    let timers = 0
    let controllers = 0
    Object.assign(globalThis, {
      setTimeout: Object.assign((...given: Parameters<typeof timeout>) => (timers++, timeout(...given)), timeout),
      AbortController: class extends Controller {
        constructor() {
          super()
          controllers++
        }
      },
    })
    try {
      work({ handler: async () => undefined })
      await until(() => worker.stats().completed === 2_000, 'all is done')
    } finally {
      Object.assign(globalThis, { setTimeout: timeout, AbortController: Controller })
    }
    expect(controllers).toBeLessThan(10)
    // The test's own waiting uses some timers.
    expect(timers).toBeLessThan(1_000)
  })

  test.each([
    ['granted', () => (source.beforeClaim = () => sleep(2_000))],
    ['told', () => (source.beforeClaimAnswer = () => sleep(400))],
  ])('a queue is not said to be drained while a task is %s late', async (_, isLate) => {
    source.add(1)
    isLate()
    work({ handler: () => undefined })
    // The first claim is one that would wait for work.
    await sleep(50)
    await worker.drained()
    expect(source.count('completed')).toBe(1)
  })

  test('a queue is not drained while the answer to a claim that does not wait is late, whatever a later claim would find', async () => {
    source.add(1)
    let answers = 0
    source.beforeClaimAnswer = () => sleep(answers++ === 0 ? 1_500 : 0)
    work({ handler: () => undefined })
    // Called before the first claim is sent, so that it does not wait for tasks.
    await worker.drained()
    expect(source.count('completed')).toBe(1)
  })

  test('a queue is not drained while the answer with a task arrives later than that of the next claim', async () => {
    work({ handler: () => undefined })
    await until(() => source.waiting === 1, 'the worker waits for work')
    let asked = 0
    source.beforeClaim = async () => {
      asked++
      // The task arrives while the worker asks for one. The waiting claim gets it, but its answer arrives only while the worker asks again.
      if (asked === 1) source.add(1)
      await sleep(asked === 1 ? 10 : 200)
    }
    source.beforeClaimAnswer = () => sleep(50)
    await worker.drained()
    expect(source.count('completed')).toBe(1)
  })

  test('a queue is not drained while there is a task that was freed by an outcome while it asks', async () => {
    work({ handler: () => undefined })
    await until(() => source.waiting === 1, 'the worker waits for work')
    let claims = 0
    source.beforeClaim = async () => {
      claims++
      // The worker asks and gets an error, and rests before it looks again. The waiting claim gets a task meanwhile.
      if (claims === 1) {
        source.add(1)
        throw failing('unreachable')
      }
      // The first claim after that is sent before the outcome has arrived, and finds nothing. The next one takes its time.
      if (claims > 2) await sleep(300)
    }
    source.beforeSettle = () => sleep(10)
    source.afterSettle = () => void (source.tasks.size === 1 && source.add(1))
    await worker.drained()
    expect(source.count('completed')).toBe(2)
  })

  test('waiting for a drained queue keeps nothing of each look', async () => {
    source.add(1)
    work({ concurrency: 1, prefetchMax: 0, handler: () => sleep(60_000) })
    const aborts = vi.spyOn(AbortController.prototype, 'abort')
    await worker.drained()
    expect(source.count('completed')).toBe(1)
    // A look that is still waited for is ended by the end of the run.
    expect(aborts.mock.calls.length).toBeLessThan(100)
    aborts.mockRestore()
  })

  test('a queue is said to be drained while a claim waits for work', async () => {
    work({ handler: () => undefined })
    await until(() => source.waiting === 1, 'the worker waits for work')
    const from = Date.now()
    await worker.drained()
    expect(Date.now() - from).toBeLessThan(1_000)
    expect(source.waiting).toBe(1)
  })

  test('agents get different names', () => {
    const [one, other] = [work({ handler: () => undefined }), createWorker({ source, handler: () => undefined })]
    expect(one.agentId).not.toBe(other.agentId)
  })

  // A claim of 1.5 tasks is refused for good, which ends the worker.
  test.each([{ concurrency: 0 }, { concurrency: 1.5 }, { prefetchMax: 0.5 }, { prefetchMax: -1 }, { leaseRenewRatio: 1 }, { claimWaitMs: 61_000 }, { settleMax: 0 }])(
    'refuses options out of their range: %j',
    (options) => {
      work({ handler: () => undefined })
      expect(() => createWorker({ source, handler: () => undefined, ...options })).toThrow(RangeError)
    },
  )
})

describe('the result of a handler becomes the outcome', () => {
  const outcomeOf = async (handler: (context: HandlerContext) => unknown) => {
    const [id] = source.add(1)
    work({ handler: (_, context) => handler(context) as undefined })
    await until(() => source.task(id!).outcomes.length > 0, 'the outcome is there')
    return only(id!)
  }

  test('a result completes', async () => {
    const result = { output: { sent: true }, decisionReport: 'why' }
    expect(await outcomeOf(() => result)).toMatchObject({ kind: 'complete', result })
  })
  test('undefined completes as well', async () => {
    expect(await outcomeOf(() => undefined)).toMatchObject({ kind: 'complete', result: {} })
  })
  test('what can be awaited is awaited, as a query of a database library: it frees its place, whenever and however often it calls back', async () => {
    const soon = { then: (done: (result: unknown) => void) => [done({ output: 1 }), done({ output: 2 })] }
    expect(await outcomeOf(() => soon)).toMatchObject({ kind: 'complete', result: { output: 1 } })
    await inTime('the end', worker.drained())
    expect(worker.stats()).toMatchObject({ running: 0, completed: 1 })
  })
  test('success: false fails', async () => {
    expect(await outcomeOf(() => ({ success: false, errors: ['a', 'b'] }))).toMatchObject({ kind: 'fail', retryable: true, error: { message: 'a; b' } })
  })
  test('an error fails, with its code and stack', async () => {
    const error = Object.assign(new Error('no route'), { code: 'EHOSTUNREACH' })
    const outcome = await outcomeOf(() => Promise.reject(error))
    expect(outcome).toMatchObject({ kind: 'fail', retryable: true, error: { message: 'no route', code: 'EHOSTUNREACH' } })
    expect(outcome.kind === 'fail' && outcome.error.stack).toContain('working.test')
  })
  test('an error thrown before the first await is treated the same', async () => {
    const thrower = (): never => {
      throw new TypeError('early')
    }
    expect(await outcomeOf(thrower)).toMatchObject({ kind: 'fail', error: { message: 'early' } })
  })
  test('a thrown value that is not an error is reported as text', async () => {
    expect(await outcomeOf(() => Promise.reject(42))).toMatchObject({ kind: 'fail', error: { message: '42' } })
  })
  test.each([
    ['a message that is no text', { message: { reason: 'no route' } }, { message: '[object Object]' }],
    ['a stack that is no text', { stack: ['line'] }, { message: 'failed' }],
    ['a message without a text', { message: Object.create(null) as object }, { message: 'the handler threw something that has no text' }],
  ])('an error with %s fails its own task, and no other', async (_, members, error) => {
    for (const isLate of [false, true]) {
      const outcome = await outcomeOf(() => {
        const thrown: Error = Object.assign(new Error('failed'), members)
        if (isLate) return Promise.reject(thrown)
        throw thrown
      })
      expect(outcome).toMatchObject({ kind: 'fail', error })
    }
    expect(worker.stats()).toMatchObject({ running: 0, buffered: 0 })
  })
  test('LK-16 the code of an error may be a number, as 429 in many libraries', async () => {
    expect(await outcomeOf(() => Promise.reject(Object.assign(new Error('slow down'), { code: 429 })))).toMatchObject({ kind: 'fail', error: { message: 'slow down', code: '429' } })
  })
  test('LK-16 what has a message is an error, whatever it was made from: of another realm, or a plain object', async () => {
    const plain = { message: 'slow down', code: 'rate_limited', retryAfter: 5 }
    expect(await outcomeOf(() => Promise.reject(plain))).toMatchObject({ kind: 'fail', error: plain })
  })
  test('a PermanentError is not retried', async () => {
    expect(await outcomeOf(() => Promise.reject(new PermanentError('gone for good')))).toMatchObject({ kind: 'fail', retryable: false })
  })
  test('a RetryLater passes its delay on', async () => {
    expect(await outcomeOf(() => Promise.reject(new RetryLater('slow down', 120)))).toMatchObject({ kind: 'fail', retryable: true, error: { retryAfter: 120 } })
  })
  test('GB-04 release gives the task back, which bars the agent', async () => {
    const outcome = await outcomeOf(({ release }) => release('not for me'))
    expect(outcome).toMatchObject({ kind: 'release', reason: 'not for me' })
    expect(outcome).not.toHaveProperty('stopping')
  })
  test('GB-04 a WorkerStopped while the worker is not stopping is an error: if the task were given back, it would come again without end', async () => {
    expect(await outcomeOf(() => Promise.reject(new WorkerStopped('no disk here')))).toMatchObject({ kind: 'fail', retryable: true })
  })
  test('each accepted outcome is reported once, with the new status, and not earlier', async () => {
    source.add(40)
    let down = true
    source.beforeSettle = () => {
      if (down) throw failing('unreachable')
    }
    const ends: ReadonlyArray<(context: HandlerContext) => unknown> = [
      () => undefined,
      () => Promise.reject(new Error('no')),
      ({ release }) => release('not mine'),
      () => source.revoke('t4'),
    ]
    work({ concurrency: 40, prefetchMax: 0, handler: (task, context) => ends[task.number - 1]?.(context) as undefined })
    await until(() => source.settles.length >= 3, 'it was tried several times')
    expect(accepted).toEqual([])
    down = false
    await worker.drained()
    expect(accepted.length).toBe(39)
    const of = (id: string) => accepted.filter(({ taskId }) => taskId === id).map(({ kind, status }) => `${kind} ${status}`)
    expect(['t1', 't2', 't3', 't4', 't40'].map(of)).toEqual([['complete completed'], ['fail pending'], ['release pending'], [], ['complete completed']])
    expect(events.filter(({ type }) => type === 'outcome-refused')).toMatchObject([{ taskId: 't4' }])
  })
  test('huge errors are truncated', async () => {
    const outcome = await outcomeOf(() => Promise.reject(new Error('x'.repeat(1_000_000))))
    expect(JSON.stringify(outcome).length).toBeLessThan(20_000)
  })
  test('a result that the queue refuses fails the task instead of holding it until its lease ends', async () => {
    source.refuseOutcome = ({ kind }) => (kind === 'complete' ? { ok: false, code: 'too-large', detail: 'over 262144 bytes' } : undefined)
    const outcome = await outcomeOf(() => ({ output: 'x' }))
    expect(outcome).toMatchObject({ kind: 'fail', retryable: false, error: { message: 'the result was refused (too-large): over 262144 bytes' } })
    expect(events).toMatchObject([{ type: 'outcome-refused', kind: 'complete', code: 'too-large' }])
  })
  test.each([
    [{ paid: true }, { paid: true }],
    ['too large', undefined],
  ])('a parking that the queue refuses fails the task, and its checkpoint is kept unless it is refused, too: %j', async (checkpoint, kept) => {
    source.refuseOutcome = (outcome) => {
      if (outcome.kind === 'park') return { ok: false, code: 'conflict', detail: 'the key is taken' }
      return outcome.kind === 'fail' && outcome.checkpoint === 'too large' ? { ok: false, code: 'too-large', detail: 'over 262144 bytes' } : undefined
    }
    const outcome = await outcomeOf(({ park }) => park({ callbackKey: 'k', timeoutSeconds: 60, checkpoint }))
    expect(outcome).toMatchObject({ kind: 'fail', retryable: true, error: { message: 'parking was refused (conflict): the key is taken' } })
    expect(outcome.kind === 'fail' && outcome.checkpoint).toEqual(kept)
  })
  test('LK-02 a completion without the required report is reported', async () => {
    const [id] = source.add(1)
    source.refuseOutcome = () => ({ ok: true, status: 'incomplete' })
    work({ handler: () => undefined })
    await until(() => events.length > 0, 'the event is there')
    expect(events).toEqual([{ type: 'incomplete', taskId: id }])
  })
})

describe('progress and checkpoints', () => {
  test('of many progress reports the last one arrives, in few heartbeats', async () => {
    const [id] = source.add(1)
    source.beforeHeartbeat = () => sleep(5)
    work({
      handler: async (_, { progress }) => {
        for (let n = 1; n <= 1_000; n++) {
          progress(n)
          if (n % 100 === 0) await sleep(2)
        }
        await until(() => source.task(id!).progress === 1_000, 'the last one is there')
      },
    })
    await until(() => source.count('completed') === 1, 'it is done')
    expect(source.heartbeats.length).toBeLessThan(30)
    // A request has the task once.
    expect(source.heartbeats.flat().length).toBe(source.heartbeats.length)
  })

  test('a checkpoint resolves once it is accepted, survives a lost heartbeat, and goes to the next holder', async () => {
    const [id] = source.add(1)
    let lost = 2
    source.beforeHeartbeat = () => {
      if (lost-- > 0) throw failing('unreachable')
    }
    source.leaseMs = 2_000
    let kept: unknown
    work({
      handler: async (_, { checkpoint, lastCheckpoint }) => {
        if (lastCheckpoint !== undefined) return { output: lastCheckpoint }
        await checkpoint({ page: 7 })
        kept = source.task(id!).checkpoint
        throw new Error('the next one goes on')
      },
    })
    await until(() => source.count('failed') === 1, 'the first holder has failed')
    source.requeue(id!)
    await until(() => source.count('completed') === 1, 'the second holder is done')
    expect(kept).toEqual({ page: 7 })
    expect(source.task(id!).outcomes.at(-1)).toMatchObject({ result: { output: { page: 7 } } })
    expect(events.map(({ type }) => type)).toEqual(['heartbeat-failed', 'heartbeat-failed'])
  })

  test('a checkpoint of null replaces an earlier one whose heartbeat was lost', async () => {
    source.add(1)
    source.beforeHeartbeat = async () => {
      if (source.heartbeats.length > 1) return
      await sleep(50)
      throw failing('unreachable')
    }
    work({
      handler: async (_, { checkpoint }) => {
        const first = checkpoint({ page: 7 })
        await sleep(10)
        await Promise.all([first, checkpoint(null)])
      },
    })
    await until(() => source.count('completed') === 1, 'it is done')
    expect(source.task('t1').checkpoint).toBe(null)
  })

  test('a checkpoint not sent yet is sent with the failure', async () => {
    const [id] = source.add(1)
    work({
      handler: (_, { checkpoint }) => {
        void checkpoint({ page: 9 })
        throw new Error('soon after')
      },
    })
    await until(() => source.task(id!).outcomes.length > 0, 'the outcome is there')
    expect(only(id!)).toMatchObject({ kind: 'fail', checkpoint: { page: 9 } })
  })

  test('a checkpoint that is refused rejects, and the lease is still kept', async () => {
    source.add(1)
    source.refuseHeartbeat = ({ checkpoint }) => (checkpoint === undefined ? undefined : { ok: false, code: 'too-large', detail: 'too large' })
    work({
      handler: async (_, { checkpoint, signal }) => ({ output: [await checkpoint('x').catch((error: Error) => error.message), signal.aborted] as [string, boolean] }),
    })
    await until(() => source.count('completed') === 1, 'it is done')
    expect(only('t1')).toMatchObject({ result: { output: ['too-large: too large', false] } })
  })

  test('checkpoints that are overtaken by the outcome of their task reject, and keep nobody waiting', async () => {
    source.add(1)
    source.beforeHeartbeat = () => sleep(50)
    const said: Array<string> = []
    work({
      handler: async (_, { checkpoint }) => {
        void checkpoint('on its way').then(() => said.push('saved'), ({ name }: Error) => said.push(name))
        await sleep(10)
        void checkpoint('not sent yet').then(() => said.push('saved'), ({ name }: Error) => said.push(name))
      },
    })
    await until(() => said.length === 2, 'both are answered')
    expect([said, source.task('t1').status, source.task('t1').checkpoint]).toEqual([['LeaseLost', 'LeaseLost'], 'completed', undefined])
  })
})
