/** The reasons why a task waits: they must agree with what claims do. */
import { type ReasonCode, reasonsOf, taskOf, whyNothing } from '@daybook/core'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Shadow } from '../support/states/index.js'
import { runs } from '../properties/settings.js'
import { scenarios } from '../properties/steps.js'
import { type Checker, World } from '../properties/world.js'
import { runSeed } from '../support/seed.js'
import { Queue, start, task } from './queue.js'

const codes = (q: Queue, id: string): ReadonlyArray<ReasonCode> | undefined => reasonsOf(q.state, id, q.at)?.map(({ code }) => code)
/** Reasons that restrict which agents may claim a task, but do not prevent a claim. */
const aboutAgents: ReadonlyArray<ReasonCode> = ['skills-required', 'agents-barred', 'failed-here-lately']
const isOver: ReadonlyArray<ReasonCode> = ['held', 'finished']

/** A new agent with all skills that claims only this type gets the task if and only if no reason prevents it. */
const toldIsSo = (seen: Map<string, number>): Checker => {
  let step = 0
  return {
    step: ({ state, shadow, clock }) => {
      const at = Math.max(clock, shadow.at)
      const known = shadow.knownAt(at)
      // The second account scans all tasks for each question. So of hundreds of tasks, only a part is asked about at each step, in rotation.
      const parts = Math.ceil(known.length / askedMax)
      const part = step++ % Math.max(1, parts)
      for (const [index, each] of known.entries()) {
        if (index % parts !== part) continue
        const { task: id, type } = each.facts
        const found = (reasonsOf(state, id, at) ?? []).map(({ code }) => code)
        for (const code of found) seen.set(code, (seen.get(code) ?? 0) + 1)
        const gates = found.filter((code) => !aboutAgents.includes(code))
        const isWaiting = each.stage === 'waiting' || each.stage === 'parked' || each.stage === 'dead-letter'
        expect([id, isWaiting], 'who waits is told why').toEqual([id, gates.some((code) => !isOver.includes(code))])
        if (!isWaiting) expect(found).toEqual([shadow.isHeld(each) ? 'held' : 'finished'])
        if (each.stage !== 'waiting') continue
        const isHalfOpen = shadow.breakers.get(type)?.state === 'half-open'
        const isGiven = shadow.pick({ agent: 'nobody before', types: [type], skills: ['go', 'sql'] }, 1, at, each).length > 0
        if (isHalfOpen) expect(gates.length > 0 && !gates.includes('ready')).toBe(true)
        else expect([id, gates]).toEqual([id, isGiven ? ['ready'] : expect.not.arrayContaining(['ready'])])
        expect(found.includes('agents-barred')).toBe(each.barred.length > 0)
        if (isWaiting && each.stage === 'waiting') expect(found.includes('failed-here-lately')).toBe(each.failers.some(([agent]) => shadow.isLast(each, agent, at)))
      }
    },
  }
}
const askedMax = 24

test('the reasons of a task are exactly what keeps claims from it', () => {
  const seen = new Map<string, number>()
  const rule = fc.property(scenarios(120), (scenario) => {
    new World(() => toldIsSo(seen)).run(scenario)
  })
  // A half-open breaker is rare; the example below has one.
  const all: ReadonlyArray<ReasonCode> = ['ready', 'scheduled', 'waiting', 'blocked', 'ordering', 'queue-paused', 'breaker-open', 'slow-down', 'concurrency-limit', 'rate-limit', 'skills-required', 'agents-barred', 'failed-here-lately', 'dead-letter']
  const missing = () => all.filter((code) => !seen.has(code))
  fc.assert(rule, runs(60))
  // A rare reason may be missing by chance. Then more histories are drawn.
  for (let round = 1; round <= 20 && missing().length > 0; round++) fc.assert(rule, { ...runs(60), seed: runSeed + round })
  expect(missing()).toEqual([])
})

test('teeth: the property distinguishes a queue that hands out a task from one that gives a reason', () => {
  const shadow = new Shadow()
  expect(shadow.pick({ agent: 'a' }, 1)).toEqual([])
  const q = new Queue().enqueue(task('a'))
  q.do({ type: 'Pause', reason: 'lunch' })
  expect(codes(q, 'a')).not.toContain('ready')
})

describe('all reasons, not only the first', () => {
  test('blocked, delayed, paused, and breaker open, each with details', () => {
    const q = new Queue().enqueue(task('a'), task('b', { dependencies: ['a'], availableAt: start + 60_000, skills: ['sql'] }))
    q.do({ type: 'OpenBreaker', taskType: 'work', reason: 'the API is down' })
    q.do({ type: 'Pause', reason: 'lunch' })
    expect(reasonsOf(q.state, 'b', q.at)).toEqual([
      { code: 'blocked', message: 'it waits for a (pending)', change: 'the completion of a', blockedBy: [{ id: 'a', status: 'pending' }] },
      { code: 'scheduled', message: 'its time has not come', change: 'time, or amend the task with an earlier availableAt', until: start + 60_000 },
      { code: 'queue-paused', message: 'the queue is paused: lunch', change: 'resume the queue' },
      { code: 'breaker-open', message: 'the breaker of work is open (the API is down), until it is closed by hand', change: 'close the breaker of work' },
      { code: 'skills-required', message: 'only an agent with these skills may take it: sql', change: 'claim with the skill sql' },
    ])
    expect(reasonsOf(q.state, '#2', q.at + 60_000)?.map(({ code }) => code)).not.toContain('scheduled')
  })

  test('half-open: one task is the probe, and the reasons of the others name it', () => {
    const q = new Queue().configure({ breakers: { defaults: { failureThreshold: 1, halfOpenAfter: 60 } } }).enqueue(task('a'), task('b'), task('c'))
    q.kill('a')
    expect(reasonsOf(q.state, 'b', q.at)).toMatchObject([{ code: 'breaker-open', until: q.at + 60_000 }])
    q.wait(60)
    expect(reasonsOf(q.state, 'b', q.at)).toMatchObject([{ code: 'breaker-half-open', message: 'the breaker of work is half-open: the next task that is claimed tests it' }])
    q.claim()
    expect(codes(q, 'b')).toEqual(['held'])
    expect(reasonsOf(q.state, 'c', q.at)).toMatchObject([{ code: 'breaker-half-open', message: 'the breaker of work is half-open: b tests it now' }])
  })

  test('ready; given back; tried again later; given up; held; finished; unknown', () => {
    const q = new Queue().enqueue(task('a'))
    expect(codes(q, 'a')).toEqual(['ready'])
    const first = q.claim()
    expect(reasonsOf(q.state, 'a', q.at)).toMatchObject([{ code: 'held', message: 'ann is working on it', until: q.at + 3_600_000 }])
    q.giveBack('a', first.token)
    expect(codes(q, 'a')).toEqual(['ready', 'agents-barred'])
    const second = q.claim('bob')
    q.fail('a', second.token, true, 'bob')
    expect(reasonsOf(q.state, 'a', q.at)).toMatchObject([{ code: 'scheduled', message: 'it is tried again later', until: taskOf(q.state, 'a')?.availableAt }, { code: 'agents-barred' }, { code: 'failed-here-lately', until: q.at + 1_800_000 }])
    q.wait(3_600)
    q.fail('a', q.claim('cy').token, false, 'cy')
    expect(codes(q, 'a')).toEqual(['dead-letter'])
    q.do({ type: 'Discard', task: 'a', reviewer: 'r', reason: 'r' })
    expect(codes(q, 'a')).toEqual(['finished'])
    expect(codes(q, 'nobody')).toBeUndefined()
  })
})

describe('EV-10: why a claim finds nothing although tasks are ready', () => {
  const why = (q: Queue, more: Partial<Parameters<typeof whyNothing>[1]> = {}) => whyNothing(q.state, { agent: 'ann', ...more }, q.at)

  test('the breaker of their type is open, or tested by another task', () => {
    const q = new Queue().enqueue(task('a', { type: 'mail' }), task('b', { type: 'mail' }), task('c', { type: 'sms', availableAt: start + 9_000 }))
    expect(why(q)).toBeUndefined()
    q.do({ type: 'OpenBreaker', taskType: 'mail', reason: 'the server is down' })
    expect(q.look()).toEqual([])
    expect(why(q)).toEqual({ code: 'breaker-open', message: 'the breaker of mail is open (the server is down), until it is closed by hand', change: 'close the breaker of mail' })
    expect([why(q, { types: ['mail'] })?.code, why(q, { types: ['ma*'] })?.code]).toEqual(['breaker-open', 'breaker-open'])
    // Nothing is ready that these ask for.
    expect([why(q, { types: ['sms'] }), why(q, { phases: ['TESTING'] })?.code, why(q, { tenant: 'acme' })]).toEqual([undefined, 'breaker-open', undefined])
  })

  test('their limits are used up, and of several reasons the one that ends first is told', () => {
    const q = new Queue().enqueue(task('a', { type: 'mail' }), task('b', { type: 'mail' }), task('c', { type: 'sms' }), task('d', { type: 'sms' }))
    q.do({ type: 'SetLimit', key: 'type:mail', concurrency: 1 })
    q.do({ type: 'SetLimit', key: 'type:sms', rate: { starts: 1, perSeconds: 60 } })
    expect(q.claim('bob', { max: 4 }).ids).toEqual(['a', 'c'])
    expect(q.look()).toEqual([])
    expect(why(q, { types: ['mail'] })).toMatchObject({ code: 'concurrency-limit', message: expect.stringContaining('may hold 1 lease at once, and holds 1') as string })
    expect(why(q, { types: ['sms'] })).toMatchObject({ code: 'rate-limit', until: start + 60_000 })
    expect(why(q)).toMatchObject({ code: 'rate-limit' })
    // What keeps the agent from everything comes first.
    q.do({ type: 'Pause', reason: 'lunch' })
    expect(why(q)?.code).toBe('queue-paused')
  })

  test('of very many groups only the first are looked at, and of a tenant its own', () => {
    const many = Array.from({ length: 300 }, (_, i) => task(`t${i}`, { type: 'mail', tenant: `tenant-${i}` }))
    const q = new Queue().enqueue(...many, task('a', { type: 'sms' }), task('b', { type: 'sms' }))
    q.do({ type: 'OpenBreaker', taskType: 'mail', reason: 'the server is down' })
    q.do({ type: 'SetLimit', key: 'type:sms', rate: { starts: 1, perSeconds: 60 } })
    expect(q.claim('bob', { max: 4 }).ids).toEqual(['a'])
    expect([why(q)?.code, why(q, { types: ['sms', 'mail'] })?.code, why(q, { types: ['s*'] })?.code]).toEqual(['breaker-open', 'rate-limit', 'rate-limit'])
    expect([why(q, { tenant: 'tenant-299' })?.code, why(q, { tenant: 'tenant-300' })]).toEqual(['breaker-open', undefined])
  })
})
