/** A simulation against the real engine on a store, in virtual time: the same workload gives the same log. */
import { generate, indexOfTask, taskId, type Workload } from '@daybook/projections/simulate'
import { expect, test, vi } from 'vitest'
import { caller, configure, logOf, ok, openQueue, sleep } from '../support/queue.js'
import { useVirtualTime } from '../support/virtual-time.js'
import { record } from './account.js'
import { from, scenarioOf } from './workloads.js'

useVirtualTime()

/** Agents, tenants, priorities, deadlines, failures, a breaker, a limit and capacity. Without jitter, which the engine draws itself. */
const scenario = scenarioOf({
  duration: '2h',
  settings: {
    capacity: { maxConcurrentAgents: 5 },
    assignment: { tenants: { a: 2 } },
    defaults: { jitter: 0, backoffSeconds: 20, maxRetries: 2 },
    breakers: { defaults: { failureThreshold: 3, halfOpenAfter: 90 } },
    score: { slaUrgencyWindow: 120 },
  },
  limits: { 'type:mail': { concurrency: 1, rate: { starts: 3, perSeconds: 60 } } },
  streams: [
    { type: 'eng', tenant: { a: 1, b: 1 }, priority: { HIGH: 1, LOW: 2 }, arrivals: { perHour: 110 }, duration: { exponential: '2m' }, failures: { probability: 0.2, permanent: 0.4 }, deadline: '6m' },
    { type: 'mail', arrivals: { perHour: 30 }, duration: { exponential: '9s' } },
  ],
  outages: [{ types: ['mail'], from: '30m', to: '45m', failsAfter: '700ms' }],
  agents: [{ name: 'all', count: 3 }, { name: 'eng', count: 3, types: ['eng'] }],
})

/** The types, tasks and times of the events about tasks and breakers, in order. */
type Line = readonly [type: string, about: string, ms: number]

const simulated = (workload: Workload): ReadonlyArray<Line> =>
  record(workload, { patches: [scenario.settings ?? {}], limits: scenario.limits ?? {} }).events.flatMap(({ type, at, data }) => lineOf(type, data, at))

const lineOf = (type: string, data: object, at: number): ReadonlyArray<Line> => {
  const { task, taskType, agent = '' } = data as { readonly task?: string; readonly taskType?: string; readonly agent?: string }
  return task === undefined && taskType === undefined ? [] : [[type, `${task ?? taskType} ${agent}`, at - from]]
}

/** The same by an engine: producers and agents are programs that sleep. */
const byEngine = async ({ arrivals, agents, pools, until }: Workload): Promise<ReadonlyArray<Line>> => {
  vi.setSystemTime(from)
  const { engine, store } = await openQueue()
  const submit = async (command: Parameters<typeof engine.submit>[0]) => ok(await engine.submit(command, caller))
  await submit(configure(scenario.settings ?? {}))
  for (const [key, limit] of Object.entries(scenario.limits ?? {})) await submit({ type: 'SetLimit', key, ...limit })
  const attempts = arrivals.map(() => 0)
  const leaving = new AbortController()
  const agent = async ({ name, pool }: Workload['agents'][number]) => {
    const { claim } = pools[pool]!
    await submit({ type: 'RegisterAgent', agent: name, ...claim, ttlSeconds: (until - from) / 1_000 })
    for (;;) {
      const claimed = await engine.claim({ type: 'Claim', agent: name, max: 1, ...claim }, { actor: name }, { waitMs: until - from, signal: leaving.signal })
      const [held] = claimed._tag === 'Right' ? claimed.right.value : []
      if (held === undefined) return
      const index = indexOfTask(held.task)
      attempts[index] = (attempts[index] ?? 0) + 1
      const { runMs, result } = arrivals[index]!.outcome(attempts[index] ?? 0, Date.now())
      await sleep(runMs)
      if (Date.now() >= until) return
      const holding = { task: held.task, agent: name, token: held.token }
      if (result === 'completed') await submit({ type: 'Complete', ...holding, content: '{}', hasReport: true })
      else await submit({ type: 'Fail', ...holding, error: { message: 'failed' }, retryable: result === 'failed' })
    }
  }
  const working = agents.map(agent)
  for (const [index, { at, type, priority, tenant, deadlineAt }] of arrivals.entries()) {
    await sleep(at - Date.now())
    const id = taskId(index)
    const more = { ...(tenant === undefined ? {} : { tenant }), ...(deadlineAt === undefined ? {} : { deadlineAt }) }
    await submit({ type: 'Enqueue', tasks: [{ id, type, idempotencyKey: id, content: '{}', priority, timeout: 86_400, ...more }] })
  }
  await sleep(until - 1 - Date.now())
  leaving.abort()
  const log = (await logOf(store)).filter(({ metadata }) => Date.parse((JSON.parse(metadata) as { at: string }).at) < until)
  await Promise.all([engine.close(), ...working])
  return log.flatMap(({ type, data, metadata }) => lineOf(type, JSON.parse(data) as object, Date.parse((JSON.parse(metadata) as { at: string }).at)))
}

/** An engine wakes up to a millisecond after what is due, and one delay leads to the next. */
const lateMs = 10

// The seeds are fixed: in another day two things might happen in the same millisecond, and an engine may take them the other way round.
test.each([3, 5, 6])('SIM: the log of a simulation is that of an engine with the same tasks and agents (day %i)', async (seed) => {
  const workload = generate(scenario, seed)
  const expected = simulated(workload)
  const types = new Set(expected.map(([type]) => type))
  for (const type of ['Claimed', 'Completed', 'Failed', 'RetryScheduled', 'TaskDue', 'DeadLettered', 'BreakerOpened', 'BreakerHalfOpened']) expect(types, type).toContain(type)
  const real = await byEngine(workload)
  const withoutTimes = (lines: ReadonlyArray<Line>) => lines.map(([type, about]) => `${type} ${about}`)
  expect(withoutTimes(real)).toEqual(withoutTimes(expected))
  expect(Math.max(...real.map(([, , ms], i) => Math.abs(ms - (expected[i]?.[2] ?? 0))))).toBeLessThanOrEqual(lateMs)
})
