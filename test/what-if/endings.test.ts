/** What-if of logs that are written by hand: each way in which an attempt can end, and what people do meanwhile. */
import { type Command, decide, evolve, initial, type QueueEvent } from '@daybook/core'
import type { Figures } from '@daybook/projections/simulate'
import { whatIf } from '@daybook/projections/what-if'
import { expect, test } from 'vitest'
import { from, recordingOf } from './recordings.js'

const second = 1_000
type Step = readonly [seconds: number, command: Command]

/** A log of these commands, each at its second, with ticks between. */
const logOf = (...steps: ReadonlyArray<Step>): ReadonlyArray<QueueEvent> => {
  let state = initial('q')
  const log: Array<QueueEvent> = []
  const run = (at: number, command: Command): void => {
    const decision = decide(command, { at, random: 0.5 })(state)
    if (decision._tag === 'Left') throw new Error(decision.left.detail)
    for (const event of decision.right) {
      state = evolve(state, event)
      log.push(event)
    }
  }
  for (let at = 0; at <= 600; at++) {
    run(from + at * second, { type: 'Tick' })
    for (const [seconds, command] of steps) if (seconds === at) run(from + at * second, command)
  }
  return log
}
const enqueue = (id: string, more: object = {}): Command => ({ type: 'Enqueue', tasks: [{ id, type: 'work', idempotencyKey: id, content: '{}', timeout: 30, ...more }] })
const claim = (agent: string): Command => ({ type: 'Claim', agent, max: 1 })
const held = (task: string, agent: string, token: number) => ({ task, agent, token })
const complete = (task: string, agent: string, token: number): Command => ({ type: 'Complete', ...held(task, agent, token), content: '{}', hasReport: true })
const beat = (task: string, agent: string, token: number): Command => ({ type: 'Heartbeat', ...held(task, agent, token) })

const modelled = (...steps: ReadonlyArray<Step>) => {
  const log = logOf(...steps)
  const result = whatIf(recordingOf(log, from, from + 600 * second))
  return { log, ...result.figures, notes: result.notes }
}
/** What happened, not when: the agents of a model ask at once. */
const outcome = ({ completed, attempts, all, arrived }: Figures) => ({ completed, attempts, dead: all.deadLetters, arrived, deadlines: all.deadlines })
const types = (log: ReadonlyArray<QueueEvent>) => log.map(({ type }) => type)

test('EV-06: heartbeats keep a lease until the report, and a silent agent loses it when it did', () => {
  const { log, recorded, model } = modelled(
    [0, enqueue('long')], [0, claim('a')], [20, beat('long', 'a', 1)], [45, beat('long', 'a', 1)], [70, complete('long', 'a', 1)],
    [100, enqueue('lost')], [100, claim('a')], [120, beat('lost', 'a', 2)], [200, claim('b')], [210, complete('lost', 'b', 3)],
  )
  expect(types(log)).toContain('ClaimExpired')
  expect(recorded.attempts).toMatchObject({ started: 3, leasesExpired: 1 })
  expect(model).toEqual(recorded)
})

test('EV-06: releases, returns, rate limits, retries and dead letters that people send back or discard', () => {
  const { log, recorded, model, notes } = modelled(
    [0, enqueue('a', { maxRetries: 2, backoffSeconds: 7 })], [0, enqueue('b', { maxRetries: 1 })], [1, claim('x')], [2, claim('y')],
    [5, { type: 'Fail', ...held('a', 'x', 1), error: { message: 'no' }, retryable: true }],
    [6, { type: 'Fail', ...held('b', 'y', 2), error: { message: 'never' }, retryable: false }],
    [30, claim('y')], [33, { type: 'Fail', ...held('a', 'y', 3), error: { message: 'too many', code: '429', retryAfter: 20 }, retryable: true }],
    [60, claim('x')], [64, { type: 'Release', ...held('a', 'x', 4), reason: 'stopping', stopping: true }],
    [90, claim('x')], [95, { type: 'Fail', ...held('a', 'x', 5), error: { message: 'no' }, retryable: true }],
    [120, { type: 'Retry', task: 'a', reviewer: 'ann', reason: 'mended' }], [121, { type: 'Discard', task: 'b', reviewer: 'ann', reason: 'nobody wants it' }],
    [130, claim('y')], [140, { type: 'Release', ...held('a', 'y', 6), reason: 'not mine' }], [160, claim('x')], [170, complete('a', 'x', 7)],
  )
  for (const type of ['RetryScheduled', 'RateLimited', 'ClaimReturned', 'Requeued', 'Discarded', 'Released']) expect(types(log)).toContain(type)
  expect(notes).toEqual([])
  expect(outcome(model)).toEqual(outcome(recorded))
})

test('EV-06: dependencies, parked tasks and their callbacks, cancelled tasks, a pause, and settings that change meanwhile', () => {
  const { log, recorded, model, notes } = modelled(
    [0, enqueue('first')], [0, enqueue('second', { dependencies: ['first'] })], [1, enqueue('third')], [2, enqueue('unwanted', { priority: 1 })],
    [3, claim('x')], [13, complete('first', 'x', 1)], [13, claim('x')], [17, { type: 'Cancel', task: 'second', reason: 'held, and no longer wanted' }], [17, claim('x')], [20, { type: 'Park', ...held('third', 'x', 3), callbackKey: 'k', timeoutSeconds: 300 }],
    [15, { type: 'Cancel', task: 'unwanted', reason: 'not wanted' }],
    [50, { type: 'Callback', callbackKey: 'k', content: '{}' }], [51, { type: 'Pause', reason: 'lunch' }], [52, enqueue('fourth')], [80, { type: 'Resume', reason: 'back' }],
    [80, { type: 'Configure', patch: { policy: 'score' } }], [81, claim('x')], [90, complete('third', 'x', 4)], [91, claim('x')], [100, complete('fourth', 'x', 5)],
  )
  for (const type of ['TaskParked', 'CallbackReceived', 'Cancelled', 'QueuePaused', 'QueueConfigured']) expect(types(log)).toContain(type)
  expect(notes).toEqual([])
  expect(outcome(model)).toEqual(outcome(recorded))
})

test('EV-06: tasks that were cancelled together are so in the model: no agent begins the next one between two of them', () => {
  const ids = ['a', 'b', 'c', 'd', 'e']
  const { recorded, model } = modelled(
    [0, enqueue('first')], [0, claim('w')], [5, complete('first', 'w', 1)],
    [10, { type: 'SetLimit', key: 'type:work', concurrency: 0 }], ...ids.map((id): Step => [20, enqueue(id)]),
    [30, { type: 'RemoveLimit', key: 'type:work' }], ...ids.map((id): Step => [30, { type: 'Cancel', task: id, reason: 'a mistake' }]),
  )
  expect(recorded.attempts.started).toBe(1)
  // The agent, which asks at once in the model, has begun one when the limit was removed.
  expect(model.attempts.started).toBe(2)
  expect(model.all.waits).toMatchObject({ tasks: 6, notStarted: 4 })
})

test('EV-06: what a completion brings comes when that task is completed, also if that is sooner than it was', () => {
  const found = { discoveries: [{ kind: 'security_issue', content: '{}' }], left: 0 }
  const parent: Command = { type: 'Complete', ...held('parent', 'x', 2), content: '{}', hasReport: true, found }
  const before = logOf([0, enqueue('parent')], [0, enqueue('other', { priority: 9 })], [0, claim('x')], [25, complete('other', 'x', 1)], [25, claim('x')], [35, parent])
  const child = before.find(({ type, data }) => type === 'TaskEnqueued' && 'parentTaskId' in data)?.data as { readonly task: string }
  const { recorded, model, log } = modelled(
    [0, enqueue('parent')], [0, enqueue('other', { priority: 9 })], [0, claim('x')], [25, complete('other', 'x', 1)], [25, claim('x')], [35, parent], [35, claim('x')],
    [60, beat(child.task, 'x', 3)], [80, beat(child.task, 'x', 3)], [100, complete(child.task, 'x', 3)],
  )
  expect(model).toEqual(recorded)
  const { figures: { changed } } = whatIf(recordingOf(log, from, from + 600 * second), { agents: 2 })
  // The parent takes 10 s from the beginning on, and the child 65 s after that.
  const busyAt = (seconds: number, { series }: typeof changed) => series.busy[Math.floor(seconds / series.pieceSeconds)]
  expect([busyAt(65, changed), busyAt(80, changed)]).toEqual([1, 0])
  expect([busyAt(65, recorded), busyAt(95, recorded)]).toEqual([1, 1])
  expect(changed.completed).toBe(3)
})

test('EV-06: a period that begins in the middle: what waits counts from its arrival, what had begun does not count in waits', () => {
  const log = logOf([0, enqueue('held', { timeout: 200 })], [0, claim('x')], [10, enqueue('old')], [100, complete('held', 'x', 1)], [100, claim('x')], [120, complete('old', 'x', 2)])
  const { figures: { recorded, model } } = whatIf(recordingOf(log, from + 50 * second, from + 300 * second))
  expect(recorded.all.waits).toMatchObject({ tasks: 1, max: 90 })
  expect(recorded).toMatchObject({ arrived: 2, completed: 2, attempts: { started: 1 } })
  expect(model).toEqual(recorded)
})

test('EV-06: a retry in the period of a task that began before it is no first attempt', () => {
  const log = logOf(
    [0, enqueue('a', { backoffSeconds: 100 })], [1, claim('x')], [2, { type: 'Fail', ...held('a', 'x', 1), error: { message: 'no' }, retryable: true }],
    [150, claim('x')], [160, complete('a', 'x', 2)],
  )
  const { figures: { recorded, model } } = whatIf(recordingOf(log, from + 50 * second, from + 300 * second))
  expect(recorded.attempts).toMatchObject({ started: 1, retries: 1 })
  expect(outcome(model)).toEqual(outcome(recorded))
})

test('EV-06: where tenants are isolated, an agent of a tenant that is not registered claims for it', () => {
  const { recorded, model, notes } = modelled(
    [0, { type: 'Configure', patch: { tenants: 'isolated' } }], [0, enqueue('acme:a', { tenant: 'acme' })], [1, enqueue('beta:b', { tenant: 'beta' })],
    [2, { ...claim('acme:x'), tenant: 'acme' } as Command], [10, complete('acme:a', 'acme:x', 1)], [20, claim('any')], [30, complete('beta:b', 'any', 2)],
  )
  expect(notes).toEqual([])
  expect(recorded.completed).toBe(2)
  expect(outcome(model)).toEqual(outcome(recorded))
})

test('EV-06: agents that claim for one tenant are not compared by the tasks of others', () => {
  const tasks = ['a', 'b'].flatMap((tenant) => Array.from({ length: 130 }, (_, i) => [0, enqueue(`${tenant}${i}`, { tenant })] as const))
  let token = 0
  // Agent a takes 5 s for a task, and agent b 25 s. Both have tasks to the end.
  const work = Array.from({ length: 121 }, (_, i) => i * 5).flatMap((at): ReadonlyArray<Step> =>
    [['a', 5] as const, ['b', 25] as const].flatMap(([tenant, takes]): ReadonlyArray<Step> => {
      if (at % takes !== 0) return []
      return [[at, { ...claim(tenant), tenant } as Command]]
    }),
  )
  const ended = work.flatMap(([at, command]): ReadonlyArray<Step> => {
    const { agent } = command as Extract<Command, { type: 'Claim' }>
    const takes = agent === 'a' ? 5 : 25
    token++
    return at + takes > 600 ? [] : [[at + takes, complete(`${agent}${at / takes}`, agent, token)]]
  })
  const register = ['a', 'b'].map((agent): Step => [0, { type: 'RegisterAgent', agent, tenant: agent, ttlSeconds: 36_000 }])
  const all = [...tasks, ...register, ...[...ended.map((step) => [0, step] as const), ...work.map((step) => [1, step] as const)].sort(([x, [p]], [y, [q]]) => p - q || x - y).map(([, step]) => step)]
  const { figures: { recorded, model } } = whatIf(recordingOf(logOf(...all), from, from + 600 * second))
  expect(recorded.pools.map(({ name }) => name)).toEqual(['for a', 'for b'])
  expect(recorded.attempts.started).toBeGreaterThan(120)
  for (const { fairness } of [recorded, model]) expect([fairness.jain, ...fairness.tenants.map(({ due }) => due)]).toEqual([null, 0, 0])
})

test('EV-06: an imported dead letter that is sent back takes as long as it did, before the period and in it', () => {
  const imported: Command = { type: 'Import', tasks: [{ id: 'old', type: 'work', idempotencyKey: 'old', content: '{}', timeout: 200, status: 'dead-letter', createdAt: from - second }] }
  const log = logOf([10, imported], [20, enqueue('new')], [30, { type: 'Retry', task: 'old', reviewer: 'ann', reason: 'mended' }], [30, claim('x')], [45, claim('x')], [50, complete('new', 'x', 2)], [115, complete('old', 'x', 1)])
  for (const begin of [0, 15]) {
    const { figures: { recorded, model }, notes } = whatIf(recordingOf(log, from + begin * second, from + 300 * second))
    expect(notes).toEqual([])
    expect(outcome(model)).toEqual(outcome(recorded))
    expect(recorded.attempts.started).toBe(2)
    expect(model.series.busy.reduce((sum, busy) => sum + busy, 0)).toBeCloseTo(recorded.series.busy.reduce((sum, busy) => sum + busy, 0), 6)
  }
})

test('EV-06: an id that was imported with a finished task, was forgotten and came again, is the later task', () => {
  const finished = { ...(enqueue('a') as Extract<Command, { type: 'Enqueue' }>).tasks[0], retries: 0, createdAt: from - 50 * second, finishedAt: from - 20 * second, status: 'completed' as const }
  const { recorded, model } = modelled(
    [0, { type: 'Configure', patch: { retentionSeconds: 1 } }], [0, { type: 'Import', tasks: [finished] } as Command],
    [60, enqueue('a')], [70, claim('x')], [80, complete('a', 'x', 1)],
    [160, enqueue('a')], [190, claim('x')], [200, complete('a', 'x', 2)],
  )
  expect(recorded).toMatchObject({ arrived: 2, completed: 2 })
  expect(recorded.all.waits).toMatchObject({ tasks: 2, mean: 20, max: 30 })
  expect(outcome(model)).toEqual(outcome(recorded))
})

test('EV-06: tasks of batches are modelled, and their callbacks come once and when they came, whenever the batch began', () => {
  const task = { type: 'work', content: '{}', timeout: 60 }
  const batch: Command = { type: 'CreateBatch', id: 'nightly', callback: { type: 'work', priority: 9 }, tasks: ['a', 'b'].map((id) => ({ ...task, id, idempotencyKey: id })) }
  const log = logOf(
    [0, batch], [1, claim('x')], [11, complete('a', 'x', 1)], [30, claim('x')], [40, complete('b', 'x', 2)], [41, claim('x')], [51, complete('nightly.callback', 'x', 3)],
  )
  expect(types(log)).toContain('BatchFinished')
  for (const begin of [0, 20, 35]) {
    const { figures: { recorded, model }, notes } = whatIf(recordingOf(log, from + begin * second, from + 300 * second))
    expect(notes).toEqual([])
    expect(outcome(model)).toEqual(outcome(recorded))
    expect(recorded.completed).toBe(begin === 0 ? 3 : 2)
  }
  // The model finishes the batch at 30, as its agent asks at once. In a period that ends at 38 there is no callback.
  const cut = recordingOf(log.filter(({ at }) => at < from + 38 * second), from + 20 * second, from + 38 * second)
  expect(whatIf(cut).figures.model).toMatchObject({ arrived: 1, completed: 1 })
  // Two agents finish the batch sooner than it was; its callback is not there before 40.
  const { figures: { changed } } = whatIf(recordingOf(log, from, from + 300 * second), { agents: 2 })
  expect(changed.completed).toBe(3)
  expect(changed.series.busy[Math.floor(25 / changed.series.pieceSeconds)]).toBe(0)
})

test.each([
  ['later', { deadlineAt: from + 50 * second }, { deadlineAt: from + 400 * second }, { deadlines: { decided: 1, met: 1 }, max: 205 }],
  ['sooner', { deadlineAt: from + 400 * second }, { deadlineAt: from + 50 * second }, { deadlines: { decided: 1, met: 0 }, max: 205 }],
  ['none', { deadlineAt: from + 50 * second }, { deadlineAt: null }, { deadlines: { decided: 0, met: 0 }, max: 205 }],
  // The wait is from the moment from which on the task was available.
  ['available later', {}, { availableAt: from + 200 * second }, { deadlines: { decided: 0, met: 0 }, max: 5 }],
  ['available at once', { availableAt: from + 500 * second }, { availableAt: null }, { deadlines: { decided: 0, met: 0 }, max: 195 }],
])('LK-11, EV-06: what was amended counts as it is in the end, whether that was in the period or before it: %s', (_, given, change, { deadlines, max }) => {
  const log = logOf([0, enqueue('a', given)], [10, { type: 'AmendTask', task: 'a', reason: 'the customer says so', ...change }], [205, claim('x')], [220, complete('a', 'x', 1)])
  for (const begin of [0, 60]) {
    const { figures: { recorded } } = whatIf(recordingOf(log, from + begin * second, from + 300 * second))
    expect(recorded.all, `from second ${begin}`).toMatchObject({ deadlines, waits: { tasks: 1, max }, completed: 1 })
  }
})

test('LK-11, EV-06: in the model, an amendment counts as in the record', () => {
  const { recorded, model } = modelled(
    [0, { type: 'Pause', reason: '' }], [0, enqueue('a', { deadlineAt: from + 50 * second })], [10, { type: 'AmendTask', task: 'a', reason: 'they can wait', deadlineAt: from + 400 * second }],
    [205, { type: 'Resume', reason: '' }], [205, claim('x')], [220, complete('a', 'x', 1)],
  )
  expect(recorded.all.deadlines).toEqual({ decided: 1, met: 1 })
  expect(model).toEqual(recorded)
})

test('LK-11, EV-06: after the first claim, an amendment changes no wait', () => {
  const log = logOf(
    [0, enqueue('a', { backoffSeconds: 20 })], [9, claim('x')], [12, { type: 'Fail', ...held('a', 'x', 1), error: { message: 'no' }, retryable: true }],
    [20, { type: 'AmendTask', task: 'a', reason: 'not yet', availableAt: from + 200 * second }], [205, claim('x')], [220, complete('a', 'x', 2)],
  )
  expect(whatIf(recordingOf(log, from, from + 300 * second)).figures.recorded.all.waits).toMatchObject({ tasks: 1, max: 9 })
})

test('EV-06: a period after the queue was deleted begins with the settings of a new queue', () => {
  const log = logOf(
    [0, { type: 'Configure', patch: { assignment: { tenants: { acme: 5 } }, score: { starvationLimit: 60 } } }], [0, enqueue('old')], [1, claim('x')], [2, complete('old', 'x', 1)],
    [10, { type: 'DeleteQueue', reason: 'done with' }], [20, enqueue('new', { tenant: 'acme' })], [120, claim('x')], [121, complete('new', 'x', 2)],
  )
  const { figures: { recorded } } = whatIf(recordingOf(log, from + 15 * second, from + 300 * second))
  expect(recorded.fairness.tenants.map(({ weight }) => weight)).toEqual([1])
  expect(recorded.starvation).toMatchObject({ limit: 7_200, starved: 0 })
})
