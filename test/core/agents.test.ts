/** Who may take a task: registrations, what claims take over from them, and agents that come last after a failure. */
import { agentsMax, agentsOf, type CommandOf, explainOf, fork, mark, rollback, whyNothing } from '@daybook/core'
import { expect, test } from 'vitest'
import { textOf } from '../support/states/index.js'
import { names, Queue, start, task } from './queue.js'

type Registration = Omit<CommandOf<'RegisterAgent'>, 'type' | 'agent'>
const register = (q: Queue, agent: string, more: Registration = {}) => q.do({ type: 'RegisterAgent', agent, ...more })
const fail = (q: Queue, id: string, agent = 'ann') => {
  const { ids, token } = q.claim(agent)
  expect(ids).toEqual([id])
  q.do({ type: 'Fail', task: id, agent, token, error: { message: 'no luck' }, retryable: true })
}
const failing = (id: string, more = {}) => task(id, { maxRetries: 9, backoffSeconds: 0, ...more })

test('TQM-ASSIGN-001: a claim takes over from the registration what it leaves out, and nothing else', () => {
  const q = new Queue().enqueue(
    task('eng', { type: 'eng-web', phase: 'TESTING', skills: ['go'] }),
    task('ops', { type: 'ops' }),
    task('zen', { type: 'eng-web', tenant: 'zen' }),
  )
  register(q, 'ann', { types: ['eng-*'], phases: ['TESTING'], skills: ['go'], tenant: 'zen' })
  const all = { max: 9 }
  expect(q.look('ann', all)).toEqual(['zen'])
  expect(q.look('ann', { ...all, types: ['ops'] })).toEqual([])
  expect(q.look('bob', all)).toEqual(['ops', 'zen'])
  register(q, 'ann', { types: ['eng-*'], skills: ['go'] })
  expect(q.look('ann', all)).toEqual(['eng', 'zen'])
  expect(q.look('ann', { ...all, skills: [], types: ['*'] })).toEqual(['ops', 'zen'])
})

test('TQM-ASSIGN-001: a registration ends when nothing is heard of the agent; what it does prolongs it', () => {
  const q = new Queue().enqueue(task('a', { skills: ['go'] }), task('b', { skills: ['go'] }))
  const [event] = register(q, 'ann', { skills: ['go'], ttlSeconds: 100 })
  expect(event).toMatchObject({ type: 'AgentRegistered', data: { agent: 'ann', skills: ['go'], endsAt: start + 100_000 } })
  q.at += 90_000
  const { token } = q.claim('ann')
  expect(agentsOf(q.state)).toMatchObject([{ agentId: 'ann', status: 'working', tasks: ['a'], lastSeenAt: start + 90_000, registeredUntil: start + 190_000 }])
  q.at += 90_000
  q.do({ type: 'Heartbeat', task: 'a', agent: 'ann', token })
  q.at += 99_999
  expect(q.look('ann')).toEqual(['b'])
  expect(agentsOf(q.state, q.at + 1)).toMatchObject([{ agentId: 'ann', tasks: ['a'] }])
  q.at += 1
  expect(q.look('ann')).toEqual([])
  expect(agentsOf(q.state, q.at)[0]?.registeredUntil).toBeUndefined()
})

test('TQM-ASSIGN-001: the same registration again has no event before half of its time is over; another one has', () => {
  const q = new Queue()
  expect(names(register(q, 'ann', { types: ['work'], ttlSeconds: 60 }))).toEqual(['AgentRegistered'])
  q.at += 29_999
  expect(register(q, 'ann', { types: ['work'], ttlSeconds: 60 })).toEqual([])
  expect(names(register(q, 'ann', { types: ['work'], ttlSeconds: 61 }))).toEqual(['AgentRegistered'])
  expect(names(register(q, 'ann', { types: ['work', 'ops'], ttlSeconds: 61 }))).toEqual(['AgentRegistered'])
  q.at += 30_500
  expect(q.ask({ type: 'RegisterAgent', agent: 'ann', types: ['work', 'ops'], ttlSeconds: 61 })).toEqual({ agent: 'ann', endsAt: q.at + 61_000 })
  expect(names(q.log)).toEqual(Array.from({ length: 4 }, () => 'AgentRegistered'))
})

test(`INV-22: at most ${agentsMax} agents are registered; one that has ended makes room`, () => {
  const q = new Queue()
  for (let i = 0; i < agentsMax; i++) register(q, `a${i}`, { ttlSeconds: i === 7 ? 10 : 20 })
  expect(q.refuse({ type: 'RegisterAgent', agent: 'more' })).toMatchObject({ code: 'conflict' })
  expect(names(register(q, 'a8', { ttlSeconds: 20, maxTasks: 1 }))).toEqual(['AgentRegistered'])
  q.at += 10_000
  register(q, 'more')
  expect(agentsOf(q.state, q.at)).toHaveLength(agentsMax)
  expect(q.refuse({ type: 'RegisterAgent', agent: 'one more' }).code).toBe('conflict')
})

test('TQM-CAP-001: an agent holds as many tasks as it registered for at most, and explain says so', () => {
  const q = new Queue().enqueue(task('a'), task('b'), task('c'))
  register(q, 'ann', { maxTasks: 2 })
  expect(q.claim('ann', { max: 9 }).ids).toEqual(['a', 'b'])
  expect(q.claim('ann').ids).toEqual([])
  expect(explainOf(q.state, 'c', q.at, { agent: 'ann' })).toMatchObject({ runnable: false, reasons: [{ code: 'agent-full', message: 'ann holds 2 tasks, as many as it registered for' }] })
  expect(whyNothing(q.state, { agent: 'ann' })).toMatchObject({ code: 'agent-full', change: 'the end of one of its leases, or register ann with a higher maxTasks' })
  expect([whyNothing(q.state, { agent: 'bob' }), whyNothing(q.state, { agent: 'ann', types: ['ops'] })]).toEqual([undefined, undefined])
  q.complete('a', 1)
  expect(q.claim('ann', { max: 9 }).ids).toEqual(['c'])
})

test('TQM-CAP-001, EV-10: explain says so, too, of a task that comes after as many as its agent has room for', () => {
  const q = new Queue().enqueue(task('a'), task('b'), task('c'))
  register(q, 'ann', { maxTasks: 1 })
  expect(explainOf(q.state, 'a', q.at, { agent: 'ann' })).toMatchObject({ runnable: true, position: 1 })
  expect(explainOf(q.state, 'b', q.at, { agent: 'ann' })).toMatchObject({
    runnable: false, position: null, reasons: [{ code: 'agent-full', message: 'ann may take 1 more task, as it registered, and others come first', change: 'the end of the tasks that it takes first, or register ann with a higher maxTasks' }],
  })
  register(q, 'ann', { maxTasks: 2 })
  expect(explainOf(q.state, 'b', q.at, { agent: 'ann' })).toMatchObject({ runnable: true, position: 2 })
})

test('TQM-ASSIGN-005: after its failure an agent comes last for the task, and gets it if there is nothing else', () => {
  const q = new Queue().enqueue(failing('a', { priority: 10 }), failing('b', { priority: 1 }))
  fail(q, 'a')
  expect(q.look('bob', { max: 2 })).toEqual(['a', 'b'])
  expect(q.look('ann', { max: 2 })).toEqual(['b', 'a'])
  expect(explainOf(q.state, 'a', q.at, { agent: 'ann' })).toMatchObject({
    position: 2,
    reasons: [{ code: 'ready' }, { code: 'failed-here-lately', until: start + 1_800_000 }],
  })
  q.at = start + 1_799_999
  expect(q.look('ann')).toEqual(['b'])
  q.at = start + 1_800_000
  expect(q.look('ann')).toEqual(['a'])
})

test('TQM-ASSIGN-005: a lease that was let expire counts, a release does not; a reviewer forgives', () => {
  const q = new Queue().configure({ maxAttempts: 100 }).enqueue(failing('a', { priority: 10, timeout: 10, maxRetries: 2 }), failing('b'))
  q.claim('ann')
  q.wait(10)
  expect(q.look('ann')).toEqual(['b'])
  const { token } = q.claim('bob')
  q.do({ type: 'Release', task: 'a', agent: 'bob', token, reason: 'stopping', stopping: true })
  expect(q.look('bob')).toEqual(['a'])
  fail(q, 'a', 'bob')
  q.do({ type: 'Retry', task: 'a', reviewer: 'r', reason: 'again' })
  expect([q.look('ann'), q.look('bob')]).toEqual([['a'], ['a']])
})

test('TQM-ASSIGN-005: it does not get the task while another registered agent could take it', () => {
  const q = new Queue().enqueue(failing('a', { skills: ['go'] }))
  const go = { skills: ['go'] }
  const { token } = q.claim('ann', go)
  q.do({ type: 'Fail', task: 'a', agent: 'ann', token, error: { message: 'no luck' }, retryable: true })
  expect(q.look('ann', go)).toEqual(['a'])
  register(q, 'nobody', { types: ['ops'], skills: ['go'] })
  register(q, 'unable', {})
  register(q, 'ann', go)
  expect(q.look('ann', go)).toEqual(['a'])
  register(q, 'bob', { ...go, ttlSeconds: 60, maxTasks: 1 })
  expect(q.look('ann', go)).toEqual([])
  const until = start + 60_000
  expect(explainOf(q.state, 'a', q.at, { agent: 'ann', ...go })).toMatchObject({ runnable: false, reasons: [{ code: 'failed-here-lately', message: 'ann failed it lately and comes last for it; bob, which is registered, can take it', until }] })
  expect(whyNothing(q.state, { agent: 'ann' })).toMatchObject({ code: 'failed-here-lately', until })
  // Bob is full.
  q.enqueue(task('b'))
  const held = q.claim('bob', { skills: [] })
  expect([held.ids, q.look('ann', go)]).toEqual([['b'], ['a']])
  q.complete('b', held.token, true, 'bob')
  expect(q.look('ann', go)).toEqual([])
  // Bob fails it as well, and there are no other agents.
  fail(q, 'a', 'bob')
  expect([q.look('ann', go), q.look('bob', go)]).toEqual([['a'], ['a']])
  register(q, 'cy', { ...go, ttlSeconds: 30 })
  expect([q.look('ann', go), q.look('bob', go)]).toEqual([[], []])
  q.at += 30_000
  expect(q.look('ann', go)).toEqual(['a'])
})

test('TQM-ASSIGN-005: nor is it left to an agent that gets nothing now: one that sleeps after a rate limit, or that capacity shuts out', () => {
  const q = new Queue().configure({ rateLimit: { slowdownFactor: 0 } }).enqueue(failing('a'), failing('r', { type: 'other' }))
  const shut = (): boolean => q.look('ann', { types: ['work'] }).length === 0
  fail(q, 'a')
  register(q, 'bob', { ttlSeconds: 3_600 })
  expect(shut()).toBe(true)
  const held = q.claim('bob', { types: ['other'] })
  q.do({ type: 'Fail', task: 'r', agent: 'bob', token: held.token, error: { message: '429', retryAfter: 30 }, retryable: true })
  expect([q.look('bob'), shut(), whyNothing(q.state, { agent: 'ann' })]).toEqual([[], false, undefined])
  q.wait(30)
  expect([q.look('bob', { types: ['work'] }), shut()]).toEqual([['a'], true])
  q.configure({ capacity: { maxConcurrentAgents: 1 } })
  expect(q.claim('ann', { types: ['other'] }).ids).toEqual(['r'])
  expect([q.look('bob'), shut()]).toEqual([[], false])
})

test('TQM-ASSIGN-005: it is left to others for a minute after its longest backoff and no longer: they may be busy, or killed and still registered', () => {
  const q = new Queue().enqueue(failing('a', { backoffSeconds: 10, maxRetries: 9 }))
  register(q, 'killed', { ttlSeconds: 3_600 })
  const mayHave = (): boolean => q.look('ann').length > 0
  const leftFor = (seconds: number): void => {
    const failedAt = q.at
    fail(q, 'a')
    const until = failedAt + seconds * 1_000
    q.at = until - 60_000
    q.do({ type: 'Tick' })
    expect([mayHave(), q.look('killed')]).toEqual([false, ['a']])
    expect(explainOf(q.state, 'a', q.at, { agent: 'ann' })).toMatchObject({ runnable: false, reasons: [{ code: 'failed-here-lately', until }] })
    expect(whyNothing(q.state, { agent: 'ann' }, q.at)).toMatchObject({ code: 'failed-here-lately', until })
    q.at = until - 1
    expect(mayHave()).toBe(false)
    q.at = until
    expect([mayHave(), whyNothing(q.state, { agent: 'ann' }, q.at)]).toEqual([true, undefined])
  }
  // 10 and 20 seconds, with a tenth of that for the jitter.
  leftFor(11 + 60)
  leftFor(22 + 60)
})

test('TQM-ASSIGN-005: a terminated agent is no longer waited for', () => {
  const q = new Queue().enqueue(failing('a'))
  fail(q, 'a')
  register(q, 'bob')
  expect(q.look('ann')).toEqual([])
  expect(names(q.do({ type: 'TerminateAgent', agent: 'bob', reason: 'gone' }))).toEqual(['AgentTerminated'])
  expect(q.look('ann')).toEqual(['a'])
  expect(q.refuse({ type: 'TerminateAgent', agent: 'bob', reason: 'gone' }).code).toBe('not-found')
})

test('GB-02: a claim that finds only what its agent gave back is told so', () => {
  const q = new Queue().enqueue(failing('a'), failing('b'))
  for (const id of ['a', 'b']) q.giveBack(id, q.claim('bob', { max: 1 }).token, 'bob')
  expect(whyNothing(q.state, { agent: 'bob' })).toEqual({ code: 'agents-barred', message: 'bob gave back what is ready for it, and will not get it again', change: 'claim as another agent' })
  expect(whyNothing(q.state, { agent: 'ann' })).toBeUndefined()
})

test('TQM-ASSIGN-003: a claim that passed over too many tasks is told so', () => {
  const q = new Queue().configure({ assignment: { maxQueueScanBatch: 3 } }).enqueue(...['a', 'b', 'c', 'd'].map((id) => failing(id)), task('e', { priority: 1 }))
  for (const id of ['a', 'b', 'c', 'd']) q.giveBack(id, q.claim('bob', { max: 1 }).token, 'bob')
  expect(q.look('bob')).toEqual([])
  expect(whyNothing(q.state, { agent: 'bob' })).toMatchObject({ code: 'too-many-barred', change: 'claim as another agent, or raise assignment.maxQueueScanBatch' })
  expect(explainOf(q.state, 'e', q.at, { agent: 'bob' })).toMatchObject({ runnable: false, reasons: [{ code: 'too-many-barred' }] })
  q.configure({ assignment: { maxQueueScanBatch: 4 } })
  expect(q.look('bob')).toEqual(['e'])
  // Tasks for which the agent comes last count, and are taken if the claim has found nothing else.
  q.configure({ assignment: { maxQueueScanBatch: 3 } })
  for (const id of ['a', 'b', 'c', 'd']) fail(q, id, 'ann')
  expect(q.look('ann', { max: 9 })).toEqual(['a', 'b', 'c', 'd'])
})

test('INV-15: registrations survive a snapshot, a rollback and a deleted queue as they should', () => {
  const q = new Queue().enqueue(failing('a'))
  register(q, 'ann', { types: ['work'], phases: ['TESTING'], skills: ['go'], tenant: 'acme', maxTasks: 2 })
  register(q, 'bob', { ttlSeconds: 5 })
  expect(textOf(fork(q.state))).toBe(textOf(q.state))
  const before = textOf(q.state)
  const point = mark(q.state)
  q.claim('bob')
  q.at += 6_000
  register(q, 'cy')
  q.do({ type: 'TerminateAgent', agent: 'ann', reason: 'r' })
  q.state = rollback(q.state, point)
  expect(textOf(q.state)).toBe(before)
  q.do({ type: 'Cancel', task: 'a', reason: 'r' })
  q.do({ type: 'DeleteQueue', reason: 'r' })
  expect(agentsOf(q.state)).toEqual([])
})
