import { describe, expect, test, vi } from 'vitest'
import { createWorker, WorkerStopped } from '@daybook/adapters/worker'
import { failing, sleep, until } from './memory-source.js'
import { aborted, events, source, useTrial, work, worker } from './trial.js'

useTrial()

/** In milliseconds. */
const year = 365 * 86_400_000

/** The answers to claims come this much later. An aborted claim has taken its tasks nevertheless. */
const answerAfter = (ms: number): void => {
  const grant = source.claim.bind(source)
  source.claim = async (request, signal) => {
    const works = await grant(request, new AbortController().signal)
    await sleep(ms)
    signal.throwIfAborted()
    return works
  }
}

describe('stopping', () => {
  test('waits for running handlers, cancels the waiting claim, and sends all outcomes', async () => {
    source.add(5)
    source.beforeSettle = () => sleep(50)
    work({ handler: () => sleep(300) })
    await until(() => worker.stats().running === 5 && source.waiting === 1, 'all are running and the worker waits for more')
    await worker.stop()
    expect(source.count('completed')).toBe(5)
    expect(worker.stats()).toMatchObject({ state: 'stopped', running: 0, unsettled: 0, completed: 5 })
    source.add(1)
    await sleep(50)
    expect(source.count('pending')).toBe(1)
    await worker.ended
  })

  test('waits for the answer to a claim that was just sent', async () => {
    source.add(10)
    answerAfter(30)
    work({ handler: () => undefined })
    await until(() => source.count('in-progress') > 0, 'tasks are taken')
    await worker.stop()
    expect(source.count('in-progress')).toBe(0)
    expect(source.count('completed')).toBe(worker.stats().completed)
    expect(worker.stats().completed).toBeGreaterThan(0)
  })

  test('waits longer for the answer to a claim that waits for no tasks: a slow server may have granted some', async () => {
    source.add(10)
    answerAfter(500)
    work({ claimWaitMs: 0, handler: () => undefined })
    await sleep(300)
    await worker.stop()
    expect(source.count('in-progress')).toBe(0)
    expect(source.count('completed')).toBe(10)
  })

  test('finishes the tasks claimed ahead if they are quick', async () => {
    source.add(2_000)
    work({ concurrency: 2, handler: () => sleep(1) })
    await until(() => worker.stats().buffered > 10, 'some are claimed ahead')
    const { buffered } = worker.stats()
    expect(buffered).toBeGreaterThan(0)
    await worker.stop()
    expect(worker.stats()).toMatchObject({ released: 0, lost: 0 })
    expect(worker.stats().completed).toBe(worker.stats().claimed)
  })

  test('GB-04 gives the tasks claimed ahead back if they are slow, without being barred from them', async () => {
    source.add(400)
    let hold = false
    work({ concurrency: 2, handler: () => (hold ? sleep(1_000) : undefined) })
    await worker.drained()
    hold = true
    source.add(100)
    await until(() => worker.stats().buffered > 5, 'some are claimed ahead')
    await worker.stop({ graceMs: 1_500 })
    const { claimed, completed, released, lost } = worker.stats()
    expect({ lost, released: released > 0, sum: completed + released }).toEqual({ lost: 0, released: true, sum: claimed })
    expect(source.count('in-progress')).toBe(0)
    expect(source.settles.flatMap(({ outcomes }) => outcomes).filter(({ kind }) => kind === 'release').length).toBe(released)
    expect([...source.tasks.values()].filter(({ barred }) => barred.size > 0)).toEqual([])
  })

  test('aborts handlers that do not end within the grace period, and gives their tasks back', async () => {
    source.add(2)
    const reasons: Array<Error> = []
    work({
      handler: async (_, { signal }) => {
        reasons.push(await aborted(signal))
        return { output: 'not reported' }
      },
    })
    await until(() => worker.stats().running === 2, 'both are running')
    await worker.stop({ graceMs: 100 })
    expect(reasons.every((reason) => reason instanceof WorkerStopped)).toBe(true)
    for (const id of ['t1', 't2']) expect(source.task(id).outcomes).toMatchObject([{ kind: 'release', reason: 'the worker stopped', stopping: true }])
  })

  test('a handler whose signal was aborted can still save where it is, for the next agent', async () => {
    source.add(1)
    let said: unknown
    work({
      handler: async (_, { signal, checkpoint }) => {
        await aborted(signal)
        said = await checkpoint({ page: 3 }).then(() => 'saved', ({ name }: Error) => name)
      },
    })
    await until(() => worker.stats().running === 1, 'it is running')
    await worker.stop({ graceMs: 50 })
    expect([said, source.task('t1').checkpoint]).toEqual(['saved', { page: 3 }])
    expect(source.task('t1').outcomes).toMatchObject([{ kind: 'release', stopping: true }])
  })

  test('a handler that is abandoned no longer waits for its checkpoint', async () => {
    source.add(1)
    source.beforeHeartbeat = () => {
      throw failing('unreachable')
    }
    let said: unknown
    work({
      handler: async (_, { checkpoint }) => {
        said = await checkpoint({ page: 3 }).catch(({ name }: Error) => name)
      },
    })
    await until(() => worker.stats().running === 1, 'it is running')
    await worker.stop({ graceMs: 50 })
    await sleep(10)
    expect(said).toBe('WorkerStopped')
  })

  test('GB-04 a handler that stops its worker gives its task back by throwing WorkerStopped', async () => {
    source.add(1)
    work({
      handler: () => {
        void worker.stop()
        throw new WorkerStopped('no disk here')
      },
    })
    await worker.ended
    expect(source.task('t1').outcomes).toMatchObject([{ kind: 'release', reason: 'no disk here', stopping: true }])
  })

  test('abandons a handler that does not end at all, without reporting it', async () => {
    source.add(1)
    work({ handler: () => new Promise(() => undefined) })
    await until(() => worker.stats().running === 1, 'it is running')
    await worker.stop({ graceMs: 50 })
    expect(events).toEqual([{ type: 'abandoned', taskId: 't1', reason: 'stopped' }])
    expect(source.settles).toEqual([])
  })

  test('ends even if the queue cannot be reached', async () => {
    source.add(3)
    source.beforeSettle = () => {
      throw failing('unreachable')
    }
    work({ handler: () => undefined })
    await until(() => worker.stats().unsettled === 3, 'all are done')
    await worker.stop({ graceMs: 0 })
    expect(events.filter(({ type }) => type === 'outcome-given-up').length).toBe(3)
  })

  test('ends even if the queue takes the outcomes and never answers, and reports them as given up', async () => {
    source.add(600)
    const waiting: Array<() => void> = []
    source.beforeSettle = () => new Promise<void>((resolve) => void waiting.push(resolve))
    work({ concurrency: 600, handler: () => undefined })
    await until(() => worker.stats().unsettled === 600, 'all are done')
    const how = await Promise.race([worker.stop({ graceMs: 0 }).then(() => 'ended'), sleep(7_000)])
    const { length } = events.filter(({ type }) => type === 'outcome-given-up')
    // Answers that come later change nothing.
    source.beforeSettle = () => undefined
    for (const answer of waiting) answer()
    await sleep(100)
    expect([how, length]).toEqual(['ended', 600])
    expect(worker.stats()).toMatchObject({ state: 'stopped', unsettled: 0, completed: 0, lost: 600 })
  })

  test.each([['back', -year], ['forward', year]])('takes as long as it should if the clock is set %s meanwhile', async (_, jump) => {
    source.add(1)
    work({ handler: async (_, { signal }) => void (await aborted(signal)) })
    await until(() => worker.stats().running === 1, 'it is running')
    const began = performance.now()
    const stopped = worker.stop({ graceMs: 5_000 })
    await sleep(50)
    vi.setSystemTime(Date.now() + jump)
    await stopped
    expect(Math.round((performance.now() - began) / 1_000)).toBe(5)
  })

  test('ends even if the source ignores its signal', async () => {
    source.beforeClaim = () => new Promise(() => undefined)
    work({ handler: () => undefined })
    await worker.stop({ graceMs: 0 })
    expect(worker.stats().state).toBe('stopped')
  })

  test('can be accelerated by a second stop', async () => {
    source.add(1)
    work({ handler: async (_, { signal }) => void (await aborted(signal)) })
    await until(() => worker.stats().running === 1, 'it is running')
    const stopped = worker.stop({ graceMs: 60_000 })
    await sleep(50)
    await worker.stop({ graceMs: 50 })
    await stopped
  })

  test('before the start does nothing', async () => {
    const idle = createWorker({ source, handler: () => undefined })
    await idle.stop()
    expect(() => idle.start()).toThrow(/stopped/)
    expect(source.claims).toEqual([])
  })
})
