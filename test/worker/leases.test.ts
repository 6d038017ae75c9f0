import { describe, expect, test, vi } from 'vitest'
import { LeaseLost } from '@daybook/adapters/worker'
import { failing, sleep, until } from './memory-source.js'
import { aborted, events, source, useTrial, work, worker } from './trial.js'

useTrial()

/** In milliseconds. */
const year = 365 * 86_400_000

/** The first twelve pauses before a retry, in milliseconds. */
const pausesOf = async (type: 'settle-failed' | 'claim-failed'): Promise<ReadonlyArray<number>> => {
  const pauses = (): ReadonlyArray<number> => events.flatMap((event) => (event.type === type ? [event.retryInMs] : []))
  await until(() => pauses().length >= 12, 'it was tried often enough')
  return pauses().slice(0, 12)
}
const expectSoon = (pauses: ReadonlyArray<number>): void => {
  for (const [index, pause] of pauses.entries()) {
    const full = Math.min(250, 25 * 2 ** index)
    expect(pause).toBeGreaterThanOrEqual(full / 2)
    expect(pause).toBeLessThanOrEqual(full)
  }
}

describe('leases are kept', () => {
  test('GB-07 a task that takes several leases is kept by heartbeats, in batches', async () => {
    source.leaseMs = 600
    source.add(40)
    work({ concurrency: 40, handler: () => sleep(2_000) })
    await until(() => source.count('completed') === 40, 'all are done')
    for (const task of source.tasks.values()) expect(task.outcomes.length).toBe(1)
    expect(events).toEqual([])
    expect(worker.stats().claimed).toBe(40)
    expect(source.heartbeats.flat().length).toBeGreaterThanOrEqual(40 * 3)
    expect(source.heartbeats.length).toBeLessThan(40)
  })

  test('tasks that wait for a free handler are kept as well', async () => {
    source.leaseMs = 500
    source.add(400)
    let hold = false
    work({ concurrency: 2, handler: () => (hold ? sleep(1_500) : undefined) })
    await worker.drained()
    hold = true
    source.add(100)
    await until(() => worker.stats().buffered > 5, 'some are claimed ahead')
    await sleep(1_000)
    expect(worker.stats().buffered).toBeGreaterThan(0)
    expect(events.filter(({ type }) => type === 'lease-lost')).toEqual([])
    hold = false
    await worker.drained()
    expect(source.count('completed')).toBe(500)
    expect([...source.tasks.values()].every(({ outcomes }) => outcomes.length === 1)).toBe(true)
  })

  test('heartbeats without an answer are sent again in time', async () => {
    source.leaseMs = 2_000
    source.add(5)
    // Every other heartbeat of each task is lost.
    const lost = new Set<string>()
    source.beforeHeartbeat = () => {
      const ids = (source.heartbeats.at(-1) ?? []).map(({ taskId }) => taskId)
      const isFirst = ids.some((id) => !lost.has(id))
      for (const id of ids) if (isFirst) lost.add(id); else lost.delete(id)
      if (isFirst) throw failing('unreachable')
    }
    work({ handler: () => sleep(3_000) })
    await until(() => source.count('completed') === 5, 'all are done')
    expect(worker.stats()).toMatchObject({ claimed: 5, lost: 0 })
  })
})

describe('heartbeats that are refused', () => {
  test('if all are refused together because of one report, the report is refused and the leases are kept', async () => {
    source.leaseMs = 2_000
    source.add(3)
    source.beforeHeartbeat = () => {
      if (source.heartbeats.at(-1)?.some(({ checkpoint }) => checkpoint === 'monstrous')) throw failing('too-large')
    }
    const refused: Array<string> = []
    work({
      handler: async ({ id }, { checkpoint, progress }) => {
        progress('begun')
        if (id === 't2') await checkpoint('monstrous').catch((error: Error) => refused.push(error.message))
        await sleep(3_000)
      },
    })
    await until(() => source.count('completed') === 3, 'all are done')
    expect(refused).toEqual(['too-large: too-large, said the source'])
    expect(events).toEqual([])
  })

  test('are not repeated while the outcome is on its way', async () => {
    source.leaseMs = 3_000
    source.add(1)
    // The queue has accepted the outcome, and its answer is late.
    source.beforeSettle = () => sleep(20_000)
    source.refuseHeartbeat = () => ({ ok: false, code: 'lease-lost', detail: 'completed' })
    work({ handler: () => undefined })
    await until(() => source.heartbeats.length > 0, 'a heartbeat was sent')
    await sleep(10_000)
    expect(source.heartbeats.length).toBe(1)
    await until(() => worker.stats().unsettled === 0, 'it is settled')
    expect(worker.stats()).toMatchObject({ lost: 1 })
  })
})

describe('a lease is measured from the sending of its claim', () => {
  test('LK-07 a task whose lease is over when the answer arrives is never started: another agent may have it', async () => {
    source.leaseMs = 200
    const [id] = source.add(1)
    // The answer takes so long that the queue has given the task to another agent.
    source.beforeClaimAnswer = async () => {
      await until(() => source.task(id!).leaseEndsAt < performance.now(), 'the lease has ended')
      source.revoke(id!)
    }
    let begun = 0
    work({ handler: () => void begun++ })
    await until(() => worker.stats().lost === 1, 'the answer has come')
    expect(begun).toBe(0)
    expect(events).toEqual([{ type: 'lease-lost', taskId: id, started: false, detail: 'expired: the lease ended before the task was begun' }])
    expect(source.settles).toEqual([])
  })

  test('LK-08 the first heartbeat is earlier by the delay of the answer', async () => {
    source.leaseMs = 5_000
    source.add(1)
    // Measured from the answer, the first heartbeat would come 0.2 seconds after the end of the lease.
    source.beforeClaimAnswer = () => sleep(2_700)
    work({ leaseRenewRatio: 0.5, handler: (_, { signal }) => until(() => source.heartbeats.length > 0 || signal.aborted, 'a heartbeat was sent') })
    await until(() => source.count('completed') + worker.stats().lost === 1, 'it is over')
    expect(events).toEqual([])
  })

  test('LK-07 an extended lease is measured from the sending of its heartbeat', async () => {
    source.leaseMs = 2_000
    source.add(1)
    // The first heartbeat extends the lease, and its answer takes more than half of the lease. No other is answered.
    source.beforeHeartbeat = () => {
      if (source.heartbeats.length > 1) throw failing('unreachable')
    }
    source.beforeHeartbeatAnswer = () => sleep(1_200)
    let isAborted = false
    work({
      handler: async (_, { signal }) => {
        await aborted(signal)
        isAborted = true
      },
    })
    await until(() => source.heartbeats.length > 0 && source.task('t1').leaseEndsAt + 300 < performance.now(), 'the lease has ended')
    expect(isAborted).toBe(true)
    source.revoke('t1')
  })

  test('LK-08 the time that a claim waited for a task does not shorten the lease', async () => {
    source.leaseMs = 1_000
    work({ handler: () => undefined })
    // The first claim of a worker waits for a short time only.
    await until(() => source.claims.length === 2, 'the worker waits for work')
    await sleep(1_500)
    expect(source.claims.length).toBe(2)
    source.add(1)
    await until(() => worker.stats().completed + worker.stats().lost === 1, 'it is over')
    expect(worker.stats()).toMatchObject({ completed: 1, lost: 0 })
  })
})

describe('a worker’s leases are short, and renewed', () => {
  test.each([
    [{}, 60],
    [{ leaseSeconds: 5 }, 5],
  ])('LK-08 with options %j it claims for %i s', async (options, seconds) => {
    source.add(1)
    work({ ...options, handler: () => undefined })
    await until(() => source.count('completed') === 1, 'it is done')
    expect(new Set(source.claims.map(({ leaseSeconds }) => leaseSeconds))).toEqual(new Set([seconds]))
  })
})

describe('a lost lease ends the work', () => {
  test.each(['expired', 'cancelled', 'terminated'])('GB-03 %s: the signal is aborted, and nothing is reported', async (why) => {
    source.leaseMs = 300
    source.add(1)
    let reason: Error | undefined
    work({
      handler: async (_, { signal }) => {
        source.refuseHeartbeat = () => ({ ok: false, code: 'lease-lost', detail: why })
        reason = await aborted(signal)
        source.revoke('t1')
        return { output: 'too late' }
      },
    })
    await until(() => reason !== undefined, 'the signal is aborted')
    expect(reason).toBeInstanceOf(LeaseLost)
    expect(reason?.message).toBe(why)
    await sleep(50)
    expect(source.settles).toEqual([])
    expect(events).toEqual([{ type: 'lease-lost', taskId: 't1', started: true, detail: why }])
    expect(worker.stats()).toMatchObject({ lost: 1, running: 0 })
  })

  test('GB-03 GB-07 a lease that could not be extended in time counts as lost, because another agent may have the task', async () => {
    source.leaseMs = 400
    source.add(1)
    source.beforeHeartbeat = () => {
      throw failing('unreachable')
    }
    const from = performance.now()
    let took = 0
    work({
      handler: async (_, { signal }) => {
        await aborted(signal)
        took = performance.now() - from
        source.revoke('t1')
      },
    })
    await until(() => took > 0, 'the signal is aborted')
    expect(took).toBeGreaterThanOrEqual(390)
    await sleep(50)
    expect(source.settles).toEqual([])
    expect(events.at(-1)).toMatchObject({ type: 'lease-lost', detail: 'expired: no heartbeat was answered in time' })
  })

  test('a signal first read after the loss is aborted', async () => {
    source.leaseMs = 200
    source.add(1)
    source.refuseHeartbeat = () => ({ ok: false, code: 'lease-lost', detail: 'cancelled' })
    let late: boolean | undefined
    work({
      handler: async (_, context) => {
        await until(() => events.length > 0, 'the loss is told')
        late = context.signal.aborted
        await expect(context.checkpoint(1)).rejects.toThrow('cancelled')
        source.revoke('t1')
      },
    })
    await until(() => late !== undefined, 'it is read')
    expect(late).toBe(true)
  })

  test('a task lost before its start is never started', async () => {
    source.leaseMs = 2_000
    source.add(300)
    let hold = false
    const begun = new Set<string>()
    work({
      concurrency: 1,
      handler: async (task) => {
        begun.add(task.id)
        if (hold) await until(() => events.length > 0, 'some are lost')
      },
    })
    await worker.drained()
    hold = true
    source.refuseHeartbeat = ({ taskId }) => (begun.has(taskId) ? undefined : { ok: false, code: 'lease-lost', detail: 'cancelled' })
    source.add(20)
    await until(() => worker.stats().buffered > 0, 'some are claimed ahead')
    await until(() => events.length > 0, 'some are lost')
    hold = false
    const lost = events.map((event) => (event.type === 'lease-lost' && !event.started ? event.taskId : ''))
    await until(() => worker.stats().running === 0 && worker.stats().buffered === 0, 'the rest is done')
    expect(lost.length).toBeGreaterThan(0)
    for (const id of lost) {
      expect(id).not.toBe('')
      expect(begun.has(id)).toBe(false)
      source.revoke(id)
    }
  })

  test('LK-07 an outcome that comes too late is refused and reported', async () => {
    source.add(1)
    work({ handler: () => source.revoke('t1') })
    await until(() => events.length > 0, 'the refusal is told')
    expect(events).toEqual([{ type: 'outcome-refused', taskId: 't1', kind: 'complete', code: 'lease-lost', detail: 'expired' }])
    expect(worker.stats()).toMatchObject({ completed: 0, lost: 1 })
  })
})

describe('outcomes are not lost', () => {
  test('they are kept while the queue cannot be reached, and sent again unchanged', async () => {
    source.add(50)
    let down = true
    source.beforeSettle = () => {
      if (down) throw failing('unreachable')
    }
    work({ concurrency: 50, handler: () => undefined })
    await until(() => source.settles.length >= 4, 'it was tried several times')
    expect(worker.stats()).toMatchObject({ completed: 0, unsettled: 50 })
    down = false
    await worker.drained()
    expect(source.count('completed')).toBe(50)
    const attempts = new Map<string, string>()
    for (const { attempt, outcomes } of source.settles) {
      const text = JSON.stringify(outcomes)
      expect(attempts.get(attempt) ?? text).toBe(text)
      attempts.set(attempt, text)
    }
    expect(attempts.size).toBe(1)
    expect(events.length).toBeGreaterThanOrEqual(3)
    for (const event of events) expect(event).toMatchObject({ type: 'settle-failed' })
  })

  test('a single one is sent again if something else than the queue has answered', async () => {
    source.add(1)
    source.beforeSettle = () => {
      if (source.settles.length <= 3) throw failing('unexpected-answer')
    }
    work({ handler: () => undefined })
    await until(() => source.task('t1').outcomes.length === 1, 'the outcome is there')
    expect(source.task('t1').outcomes).toMatchObject([{ kind: 'complete' }])
    expect(events.map(({ type }) => type)).toEqual(['settle-failed', 'settle-failed', 'settle-failed'])
  })

  test('a single one is sent again with its key while its first call is still running', async () => {
    source.add(1)
    source.beforeSettle = () => {
      if (source.settles.length <= 2) throw Object.assign(failing('conflict'), { retryAfterSeconds: 1 })
    }
    work({ handler: () => Promise.reject(new Error('no')) })
    await until(() => source.task('t1').outcomes.length === 1, 'the outcome is there')
    expect(source.task('t1').outcomes).toMatchObject([{ kind: 'fail', error: { message: 'no' } }])
    expect(new Set(source.settles.map(({ attempt }) => attempt)).size).toBe(1)
  })

  test('a queue that is back is found at once: in the first seconds the tries are at most 250 ms apart', async () => {
    source.add(1)
    source.beforeSettle = () => {
      throw failing('unreachable')
    }
    work({ handler: () => undefined })
    expectSoon(await pausesOf('settle-failed'))
  })

  test('only those that the queue has deferred are sent again', async () => {
    source.add(10)
    let putOff = 0
    source.refuseOutcome = ({ taskId }) => (taskId === 't3' && putOff++ < 2 ? { ok: false, code: 'overloaded', detail: 'later', retryAfterSeconds: 0.01 } : undefined)
    work({ handler: () => undefined })
    await worker.drained()
    expect(source.count('completed')).toBe(10)
    expect(source.settles.flatMap(({ outcomes }) => outcomes).length).toBe(12)
    expect(events).toEqual([])
  })

  test('an outcome that cannot be sent for too long is given up and reported', async () => {
    source.add(1)
    source.beforeSettle = () => {
      throw failing('unreachable')
    }
    work({ settleForMs: 300, handler: () => undefined })
    await until(() => events.some(({ type }) => type === 'outcome-given-up'), 'it is given up')
    expect(events.at(-1)).toMatchObject({ type: 'outcome-given-up', taskId: 't1', kind: 'complete' })
    expect(worker.stats()).toMatchObject({ unsettled: 0, lost: 1 })
  })

  test('is kept if the clock of its machine jumps ahead meanwhile, and given up in time if the clock is set back', async () => {
    source.add(1)
    let isAway = true
    source.beforeSettle = () => {
      if (isAway) throw failing('unreachable')
    }
    work({ settleForMs: 60_000, handler: () => undefined })
    await until(() => events.some(({ type }) => type === 'settle-failed'), 'it cannot be sent')
    vi.setSystemTime(Date.now() + year)
    await sleep(1_000)
    isAway = false
    await until(() => source.count('completed') === 1, 'it is sent')
    expect(events.filter(({ type }) => type !== 'settle-failed')).toEqual([])
    source.add(1)
    isAway = true
    await until(() => worker.stats().unsettled === 1, 'the next one is done')
    vi.setSystemTime(Date.now() - year)
    await sleep(70_000)
    expect(events.at(-1)).toMatchObject({ type: 'outcome-given-up', kind: 'complete' })
  })

  test('with too many waiting outcomes, no more tasks are claimed', async () => {
    source.add(2_000)
    source.beforeSettle = () => {
      throw failing('unreachable')
    }
    work({ unsettledMax: 100, concurrency: 10, prefetchMax: 20, handler: () => undefined })
    await until(() => worker.stats().unsettled >= 100, 'there are too many')
    await sleep(200)
    expect(worker.stats().claimed).toBeLessThanOrEqual(130)
    source.beforeSettle = () => undefined
    await until(() => source.count('completed') === 2_000, 'the rest is done')
  })
})

describe('claims that fail', () => {
  test('are made again, at most 250 ms apart in the first seconds', async () => {
    source.add(3)
    let down = true
    source.beforeClaim = () => {
      if (down) throw failing('unreachable')
    }
    work({ handler: () => undefined })
    expectSoon(await pausesOf('claim-failed'))
    down = false
    await worker.drained()
    expect(source.count('completed')).toBe(3)
    expect(events.every(({ type }) => type === 'claim-failed')).toBe(true)
  })

  test.each(['unauthorized', 'forbidden', 'invalid'])('for good (%s) end the worker', async (code) => {
    source.beforeClaim = () => {
      throw failing(code)
    }
    work({ handler: () => undefined })
    await until(() => worker.stats().state === 'stopped', 'it has stopped')
    await expect(worker.ended).rejects.toMatchObject({ code })
    expect(events).toMatchObject([{ type: 'claim-failed', fatal: true }])
  })

  test('because the queue does not exist yet count as empty', async () => {
    let tries = 0
    source.beforeClaim = () => {
      if (++tries < 3) throw failing('not-found')
    }
    source.add(1)
    work({ handler: () => undefined })
    await until(() => source.count('completed') === 1, 'it is done')
    expect(tries).toBeGreaterThanOrEqual(3)
    expect(events).toEqual([])
  })
})
