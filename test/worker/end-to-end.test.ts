import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createClient, type DaybookClient } from '@daybook/adapters/client'
import { createWorker, engineSource, httpSource, PermanentError, type TaskSource, type TaskWorker, type WorkerEvent, type WorkerOptions } from '@daybook/adapters/worker'
import { sleep, until } from './memory-source.js'
import { type RealQueue, startRealQueue } from './real-queue.js'

let queue: RealQueue
let client: DaybookClient
let workers: Array<TaskWorker>
let clients: Array<DaybookClient>
let events: Array<WorkerEvent>

const sources: ReadonlyArray<readonly [string, () => Promise<TaskSource>]> = [
  ['over HTTP', async () => {
    const own = createClient({ url: queue.url, token: queue.token })
    clients.push(own)
    return httpSource(own)
  }],
  ['in the engine’s process', async () => engineSource(await queue.engine())],
]
const numbers = (count: number): ReadonlyArray<number> => Array.from({ length: count }, (_, n) => n)

beforeEach(async () => {
  queue = await startRealQueue()
  client = queue.client
  workers = []
  clients = []
  events = []
})
afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.stop({ graceMs: 0 })))
  await Promise.all(clients.map((each) => each.close()))
  await queue.stop()
})

describe.each(sources)('a worker %s', (_, sourceOf) => {
  test('TQM-ASSIGN-001: is registered with what it can take, as soon as the queue exists, until it stops', async () => {
    const named = await work({ agentId: 'coder', types: ['eng-*'], skills: ['go'], concurrency: 2, handler: () => undefined })
    const unnamed = await work({ concurrency: 2, prefetchMax: 3, handler: () => undefined })
    const agents = () => client.agents.list()
    await until(async () => (await agents()).length === 2, 'both are registered')
    const listed = await agents()
    const [coder, other] = [listed.find(({ agentId }) => agentId === 'coder'), listed.find(({ agentId }) => agentId !== 'coder')]
    expect(coder).toMatchObject({ agentId: 'coder', status: 'idle', types: ['eng-*'], skills: ['go'], tasks: [] })
    expect([coder?.maxTasks, other?.maxTasks]).toEqual([undefined, 5])
    await Promise.all([named.stop(), unnamed.stop()])
    await until(async () => (await agents()).length === 0, 'nobody is registered')
  })

  test('TQM-ASSIGN-005: leaves a task that it has failed to another worker', async () => {
    const tried: Array<string> = []
    const tries = (name: string) => () => {
      tried.push(name)
      if (name === 'ann') throw new Error('not here')
    }
    await work({ agentId: 'ann', concurrency: 1, prefetchMax: 0, handler: tries('ann') })
    const { id } = await client.enqueue({ type: 'eng-web', backoffSeconds: 0.2, maxRetries: 9 })
    await until(() => tried.length === 1, 'the first try')
    await work({ agentId: 'bob', concurrency: 1, prefetchMax: 0, handler: tries('bob') })
    await until(async () => (await client.task(id)).status === 'completed', 'it is completed')
    expect(tried[tried.length - 1]).toBe('bob')
    expect(tried.filter((name) => name === 'ann').length).toBeLessThan(9)
  })

  test('is told once why it gets nothing although tasks are ready', async () => {
    await client.enqueue({ type: 'eng-web' })
    await client.pause('lunch')
    await work({ claimWaitMs: 10, handler: () => undefined })
    await until(() => events.some(({ type }) => type === 'found-nothing'), 'the reason')
    await sleep(100)
    expect(events).toMatchObject([{ type: 'found-nothing', reason: { code: 'queue-paused', message: 'the queue is paused: lunch', change: 'resume the queue' } }])
    await client.resume('back')
  })

  test('is told within seconds why it gets nothing, though its claims wait for longer', async () => {
    await client.enqueue({ type: 'eng-web' })
    await client.pause('lunch')
    const began = performance.now()
    await work({ handler: () => undefined })
    await until(() => events.some(({ type }) => type === 'found-nothing'), 'the reason')
    expect(performance.now() - began).toBeLessThan(10_000)
    await client.resume('back')
  })

  test('between two tasks it is not told that its agent is full', async () => {
    await client.enqueue({ type: 'eng-web', payload: 'first' })
    const worker = await work({ concurrency: 1, prefetchMax: 0, claimWaitMs: 0, handler: () => ({ decisionReport: 'r' }) })
    await until(async () => (await client.agents.list()).some(({ maxTasks }) => maxTasks === 1), 'the registration')
    await client.enqueueAll(numbers(20).map((n) => ({ type: 'eng-web', payload: n })))
    await until(() => worker.stats().completed === 21, 'all are completed')
    expect(events).toEqual([])
  })

  test('while the answer to its claim is late, a worker that waits for the end is not told that its agent is full, and the queue is not drained', async () => {
    const source = await sourceOf()
    let answer = (): void => undefined
    const answered = new Promise<void>((resolve) => (answer = resolve))
    let [claims, taken, asked] = [0, 0, 0]
    const late: TaskSource = {
      ...source,
      claim: async (request, signal) => {
        const claim = ++claims
        const works = await source.claim(request, signal)
        if (claim === 2) taken = works.length
        else if (claim > 2) asked++
        if (claim === 2) await answered
        return works
      },
    }
    const worker = await work({ source: late, concurrency: 2, prefetchMax: 0, claimWaitMs: 60_000, handler: () => ({ decisionReport: 'r' }) })
    // The first claim waits for a second, the others for a minute.
    await until(() => claims === 2, 'its second claim is sent')
    await client.enqueueAll(numbers(3).map((n) => ({ type: 'eng-web', payload: n })))
    await until(async () => taken === 2 && (await client.agents.list()).some(({ maxTasks }) => maxTasks === 2), 'it has taken two tasks and is registered')
    let isDrained = false
    const drained = worker.drained().then(() => (isDrained = true))
    await until(() => asked >= 2, 'it asks although that claim is not answered')
    await sleep(50)
    expect(isDrained).toBe(false)
    answer()
    await drained
    expect(events).toEqual([])
    expect(worker.stats().completed).toBe(3)
  })

  const work = async (options: Omit<WorkerOptions, 'source'> & { readonly source?: TaskSource }): Promise<TaskWorker> => {
    const worker = createWorker({ source: await sourceOf(), onEvent: (event) => void (event.type === 'outcome-accepted' || events.push(event)), ...options })
    workers.push(worker)
    worker.start()
    return worker
  }

  test('a handler parks its task, and has the callback when it is called again', async () => {
    await client.enqueue({ id: 'deploy', type: 'deploy', payload: { to: 'live' } })
    const worker = await work({
      handler: (task, { park, callback, lastCheckpoint, checkpoint }) => {
        if (callback !== undefined) return { output: { callback: { key: callback.key, payload: callback.payload }, lastCheckpoint: lastCheckpoint ?? null, attempt: task.attempt }, decisionReport: 'r' }
        void checkpoint({ built: true })
        return park({ callbackKey: `approve-${task.id}`, timeoutSeconds: 600 })
      },
    })
    await until(async () => (await client.task('deploy')).status === 'waiting', 'parked')
    expect(await client.callback('approve-deploy', { approved: true })).toMatchObject({ task: 'deploy', status: 'pending' })
    await until(async () => (await client.task('deploy')).status === 'completed', 'completed')
    expect((await client.task('deploy')).result?.output).toEqual({ callback: { key: 'approve-deploy', payload: { approved: true } }, lastCheckpoint: { built: true }, attempt: 1 })
    await until(() => worker.stats().completed === 1, 'told')
    expect(worker.stats()).toMatchObject({ parked: 1, failed: 0 })
  })

  test('parking by a key that another task waits for is a failure that is tried again', async () => {
    await client.enqueueAll([1, 2].map((n) => ({ type: 'deploy', payload: n, backoffSeconds: 60 })))
    const worker = await work({ handler: (_task, { park }) => park({ callbackKey: 'one for all', timeoutSeconds: 600 }) })
    await until(() => worker.stats().parked + worker.stats().failed === 2, 'both reported')
    const { tasks } = await client.tasks({})
    expect(tasks.map(({ status }) => status).sort()).toEqual(['scheduled', 'waiting'])
    expect(tasks.find(({ status }) => status === 'scheduled')?.lastError).toContain('already waits for the callback')
  })

  test('LK-06 LK-07 GB-05 two workers share a queue: every task is done once, with its producer’s payload', async () => {
    await client.enqueueAll(numbers(1_000).map((n) => ({ type: 'sum', payload: { a: n, b: 1 }, description: `sum ${n}`, metadata: { n } })))
    const seen = new Map<string, number>()
    const both = await Promise.all(
      numbers(2).map(() =>
        work({
          handler: async (task) => {
            seen.set(task.id, (seen.get(task.id) ?? 0) + 1)
            const { a, b } = task.payload as { a: number; b: number }
            expect([task.type, task.description, task.metadata]).toEqual(['sum', `sum ${a}`, { n: a }])
            await Promise.resolve()
            return { output: a + b }
          },
        }),
      ),
    )
    await Promise.all(both.map((worker) => worker.drained()))
    expect(seen.size).toBe(1_000)
    expect(Math.max(...seen.values())).toBe(1)
    expect((await client.depth()).byStatus.completed).toBe(1_000)
    for await (const task of client.eachTask({ limit: 300 })) {
      expect(task.result).toEqual({ output: (task.payload as { a: number }).a + 1 })
    }
    expect(events).toEqual([])
  })

  test('a task has everything that its worker needs, with the payload’s type chosen by the handler, and prints as it came', async () => {
    await client.enqueue({ id: 'first', type: 'sum' })
    const more = { tenant: 'acme', ticketId: 'T-1', parentTaskId: 'first', phase: 'TESTING' as const, deadlineAt: '2990-01-01T00:00:00.000Z' }
    await client.enqueue({ id: 'second', type: 'sum', payload: { a: 1 }, priority: 9, maxRetries: 2, backoffSeconds: 0, idempotencyKey: 'k', dependencies: ['first'], ...more })
    const seen: Array<unknown> = []
    const source = await sourceOf()
    const worker = createWorker<{ readonly a: number } | null>({
      source,
      handler: (task) => {
        const { payload, attempt } = task
        seen.push(JSON.parse(JSON.stringify(task)))
        if (payload !== null && attempt + payload.a === 2) throw new Error('not yet')
      },
    })
    workers.push(worker)
    worker.start()
    await until(async () => (await client.task('second')).status === 'completed', 'the second is done')
    const view = await client.task('second')
    const common = { id: 'second', number: 2, type: 'sum', payload: { a: 1 }, priority: 9, idempotencyKey: 'k', dependencies: ['first'], createdAt: view.createdAt, attemptsMax: 2, ...more }
    expect(seen).toMatchObject([{ id: 'first', payload: null, attempt: 1, dependencies: [] }, { ...common, attempt: 1 }, { ...common, attempt: 2 }])
    expect(view).toMatchObject({ attempt: 2, attemptsMax: 2, attempts: 1 })
  })

  test('claims only what it can do, waits for more, and starts it soon', async () => {
    const types: Array<string> = []
    const worker = await work({ types: ['mail-*'], handler: (task) => void types.push(task.type) })
    await worker.drained()
    await client.enqueueAll([{ type: 'mail-send' }, { type: 'fax' }, { type: 'mail-sort' }])
    await until(() => types.length === 2, 'both are done')
    await worker.drained()
    expect(types.sort()).toEqual(['mail-send', 'mail-sort'])
    expect((await client.depth()).byStatus.pending).toBe(1)
  })

  test('LK-09 a failure is retried with its checkpoint, a permanent one becomes a dead letter', async () => {
    const { id } = await client.enqueue({ type: 'pages', payload: 'a' })
    const { id: hopeless } = await client.enqueue({ type: 'hopeless', payload: 'b' })
    const worker = await work({
      handler: async (task, { checkpoint, progress, lastCheckpoint }) => {
        if (task.type === 'hopeless') throw new PermanentError('there is no such page')
        if (lastCheckpoint !== undefined) return { output: lastCheckpoint }
        progress(0.5)
        await checkpoint({ page: 7 })
        throw Object.assign(new Error('connection reset'), { code: 'ECONNRESET' })
      },
    })
    await until(() => worker.stats().completed === 1, 'the second attempt is done')
    await worker.drained()
    expect(await client.task(id)).toMatchObject({ status: 'completed', retries: 1, result: { output: { page: 7 } } })
    expect(await client.task(hopeless)).toMatchObject({ status: 'dead-letter', lastError: 'there is no such page' })
    const types = (await client.history(id)).map(({ type }) => type)
    expect(types).toContain('Failed')
    expect(events).toEqual([])
  })

  test('GB-04 a released task goes to another agent, and not to the same one again', async () => {
    const { id } = await client.enqueue({ type: 'odd' })
    const takers: Array<string> = []
    for (const agentId of ['one', 'other']) {
      const worker = await work({
        agentId,
        handler: (_, { release }) => {
          takers.push(agentId)
          return agentId === 'one' ? release('not for me') : undefined
        },
      })
      await until(() => takers.length === workers.length, 'it is taken')
      await worker.drained()
    }
    expect(takers).toEqual(['one', 'other'])
    expect(await client.task(id)).toMatchObject({ status: 'completed', claimants: ['one'], attempts: 1 })
  })

  test('GB-04 a worker with a fixed name that is stopped at work is not barred: its successor gets the task', async () => {
    const { id } = await client.enqueue({ type: 'slow' })
    const first = await work({ agentId: 'mailer-1', handler: (_, { signal }) => new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve())) })
    await until(() => first.stats().running === 1, 'it is at work')
    await first.stop({ graceMs: 50 })
    expect(await client.task(id)).toMatchObject({ status: 'pending', claimants: [], attempts: 0, retries: 0 })
    const second = await work({ agentId: 'mailer-1', handler: () => undefined })
    await until(() => second.stats().completed === 1, 'it is done')
    expect(await client.task(id)).toMatchObject({ status: 'completed', claimedBy: 'mailer-1' })
  })

  test('LK-08 its leases last for leaseSeconds, however long the task’s timeout is, and are renewed for as long', async () => {
    const { id } = await client.enqueue({ type: 'slow', timeout: 3_600 })
    let beaten = false
    const worker = await work({ leaseSeconds: 10, leaseRenewRatio: 0.05, handler: () => until(() => beaten, 'the lease was extended') })
    const granted = async () => (await client.history(id)).filter(({ type }) => type === 'Claimed' || type === 'LeaseExtended')
    await until(async () => (await granted()).length >= 3, 'the lease was extended twice')
    beaten = true
    await until(() => worker.stats().completed === 1, 'it is done')
    const lengths = (await granted()).map(({ at, data }) => Date.parse((data as { expiresAt: string }).expiresAt) - Date.parse(at))
    expect(new Set(lengths)).toEqual(new Set([10_000]))
  })

  test('GB-07 a task that takes longer than its lease is kept', async () => {
    const { id } = await client.enqueue({ type: 'long', timeout: 6 })
    const extended = async () => (await client.history(id)).filter(({ type }) => type === 'LeaseExtended')
    const firstEnds = async (): Promise<number> => {
      const claimed = (await client.history(id)).find(({ type }) => type === 'Claimed')
      return Date.parse((claimed!.data as { expiresAt: string }).expiresAt)
    }
    // The lease is long enough for a slow machine, and renewed early.
    const worker = await work({ leaseRenewRatio: 0.1, handler: () => until(async () => Date.now() > (await firstEnds()), 'the first lease is over') })
    await until(() => worker.stats().completed + worker.stats().lost === 1, 'it is done')
    expect(await client.task(id)).toMatchObject({ status: 'completed', retries: 0, attempts: 0 })
    expect((await extended()).length).toBeGreaterThan(0)
  })

  test('GB-03 the handler learns of the cancellation of its task, and nothing is reported', async () => {
    const { id } = await client.enqueue({ type: 'long' })
    let told = ''
    const worker = await work({
      leaseSeconds: 10,
      leaseRenewRatio: 0.05,
      handler: (_, { signal }) =>
        new Promise<void>((resolve) => signal.addEventListener('abort', () => {
          told = (signal.reason as Error).message
          resolve()
        })),
    })
    await until(() => worker.stats().running === 1, 'it is running')
    await client.cancel(id, 'not needed any more')
    await until(() => told !== '', 'the handler is told')
    expect(told).toMatch(/cancel/)
    expect(events).toMatchObject([{ type: 'lease-lost', taskId: id, started: true }])
    await worker.stop()
    expect((await client.task(id)).status).toBe('cancelled')
  })

  test('LK-02 a completion without the required report is reported as incomplete', async () => {
    await client.settings.patch({ decisionReport: 'required' })
    const { id } = await client.enqueue({ type: 'x', payload: 1 })
    const { id: other } = await client.enqueue({ type: 'x', payload: 2 })
    await work({ handler: (task) => (task.payload === 1 ? undefined : { decisionReport: { why: 'it was asked for' } }) })
    await until(() => events.length > 0, 'it is told')
    expect(events).toEqual([{ type: 'incomplete', taskId: id }])
    await until(() => workers[0]!.stats().completed === 2, 'both are handed in')
    expect((await client.task(id)).status).toBe('incomplete')
    expect((await client.task(other)).status).toBe('completed')
  })

  test('after a stop no task is leased without being worked on', async () => {
    await client.enqueueAll(numbers(300).map((n) => ({ type: 'x', payload: n })))
    const worker = await work({ concurrency: 5, handler: () => sleep(5) })
    await until(() => worker.stats().completed > 20, 'some are done')
    await worker.stop()
    // The server may not have noticed yet that nobody waits for the answer to the last claim.
    let { byStatus } = await client.depth()
    await until(async () => ({ byStatus } = await client.depth()).byStatus['in-progress'] === 0, 'nothing is held')
    expect(byStatus.completed).toBe(worker.stats().completed)
    expect(byStatus.completed + byStatus.pending).toBe(300)
  })
})
