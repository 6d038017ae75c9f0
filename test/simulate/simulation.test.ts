/** Simulations: the same seed gives the same figures, nothing is lost, and the figures are those of the log. */
import { figuresOf, generate, jainIndex, simulate } from '@daybook/projections/simulate'
import { expect, test } from 'vitest'
import { runSeed } from '../support/seed.js'
import { area, fatesOf, rank, record } from './account.js'
import { arrival, eventful, figures, from, manyAgents, scenarioOf, workloadOf } from './workloads.js'

const seed = runSeed % 1_000_000

test('SIM: the same scenario and seed give the same figures, byte for byte; another seed gives others', () => {
  const text = (of: number) => JSON.stringify(simulate(eventful(of, 2)))
  expect(text(seed)).toBe(text(seed))
  expect(text(seed + 1)).not.toBe(text(seed))
})

test('SIM: a change of one stream leaves the tasks of the others as they are', () => {
  const scenario = eventful(seed)
  const tasksOf = (of: typeof scenario, type: string) =>
    generate(of).arrivals.filter((task) => task.type === type).map((task) => [task.at, task.priority, task.tenant, task.outcome(1, from), task.outcome(2, from)])
  const [first, ...others] = scenario.streams
  const changed = { ...scenario, streams: [...others, { ...(first as typeof others[number]), arrivals: { perHour: 50 } }] }
  expect(tasksOf(changed, 'mail')).toEqual(tasksOf(scenario, 'mail'))
  expect(tasksOf(changed, 'eng')).not.toEqual(tasksOf(scenario, 'eng'))
})

test('SIM: how an attempt goes does not depend on when it begins, and streams that are described alike are not alike', () => {
  const stream = { type: 'work', arrivals: { perHour: 100 }, duration: { exponential: '1m' }, failures: { probability: 0.5 } }
  const { arrivals } = generate(scenarioOf({ duration: '2h', streams: [stream, { ...stream, name: 'other', type: 'twin' }], agents: [{ name: 'x', count: 1 }] }), seed)
  for (const task of arrivals) expect(task.outcome(2, from)).toEqual(task.outcome(2, from + 3_600_000))
  const times = (type: string) => arrivals.filter((task) => task.type === type).map(({ at }) => at)
  expect(times('work')).not.toEqual(times('twin'))
})

test('SIM: the figures are those that the log gives', () => {
  const scenario = eventful(seed)
  const workload = generate(scenario)
  const rules = { patches: [scenario.settings ?? {}], limits: scenario.limits ?? {} }
  const found = figuresOf(workload, rules)
  const { events, told } = record(workload, rules)
  const { arrivals, until } = workload
  const fates = fatesOf(events, arrivals.length)
  const tasks = arrivals.map((task, i) => ({ ...task, ...(fates[i] as (typeof fates)[number]) }))
  const count = (type: string) => events.filter((event) => event.type === type).length
  const having = (fate: string) => tasks.filter((task) => task.fate === fate).length

  // Nothing is lost: every task that came is completed, dead, waiting, or with an agent.
  expect(count('TaskEnqueued')).toBe(arrivals.length)
  expect(found.completed + found.all.deadLetters + found.waitingAtEnd + found.runningAtEnd).toBe(arrivals.length)
  expect([found.completed, found.all.deadLetters, found.waitingAtEnd, found.runningAtEnd]).toEqual([having('completed'), having('dead'), having('waiting'), having('running')])
  expect(found.attempts).toEqual({
    started: count('Claimed'),
    failed: count('Failed'),
    leasesExpired: count('ClaimExpired'),
    rateLimited: count('RateLimited'),
    retries: count('Claimed') - tasks.filter(({ claims }) => claims > 0).length,
  })
  // The scenario reaches what it is about.
  for (const type of ['Failed', 'ClaimExpired', 'RateLimited', 'DeadLettered', 'BreakerOpened', 'BreakerClosed', 'LimitOpened'] as const) expect(count(type), type).toBeGreaterThan(0)

  const groups = [
    { group: found.all, of: tasks },
    ...found.byPriority.map((group) => ({ group, of: tasks.filter(({ priority }) => priority === group.priority) })),
    ...found.byTenant.map((group) => ({ group, of: tasks.filter(({ tenant = null }) => tenant === group.tenant) })),
  ]
  for (const { group, of } of groups) {
    const waits = of.map(({ at, firstClaim }) => ((Number.isNaN(firstClaim) ? until : firstClaim) - at) / 1_000)
    expect(group.waits.tasks).toBe(of.length)
    expect([group.waits.p50, group.waits.p95, group.waits.p99, group.waits.max]).toEqual([0.5, 0.95, 0.99, 1].map((share) => rank(waits, share)))
    expect(group.waits.mean).toBeCloseTo(waits.reduce((sum, wait) => sum + wait, 0) / of.length, 6)
    expect(group.waits.notStarted).toBe(of.filter(({ claims }) => claims === 0).length)
    const due = of.filter(({ deadlineAt, fate }) => deadlineAt !== undefined && (deadlineAt < until || fate === 'completed' || fate === 'dead'))
    expect(group.deadlines).toEqual({ decided: due.length, met: due.filter(({ fate, endedAt, deadlineAt = 0 }) => fate === 'completed' && endedAt <= deadlineAt).length })
  }
  expect(found.starvation.longestWait).toBe(found.all.waits.max)

  // Areas: the time of agents at work, and of tasks that wait.
  const steps = (kind: string, by: (what: number) => number) => told.filter((one) => one.kind === kind).map(({ at, what }) => [at, by(what)] as const)
  const busy = area([...steps('started', () => 1), ...steps('ended', () => -1)], until)
  const places = area(steps('places', (what) => what), until)
  expect(found.utilisation).toBeCloseTo(busy / places, 9)
  const pieceMs = found.series.pieceSeconds * 1_000
  const total = (values: ReadonlyArray<number>) => values.reduce((sum, value) => sum + value, 0) * pieceMs
  expect(total(found.series.busy) / busy).toBeCloseTo(1, 9)
  const waiting = area(events.flatMap((event): ReadonlyArray<readonly [number, number]> => {
    if (event.type === 'TaskEnqueued' || event.type === 'Failed' || event.type === 'ClaimExpired' || event.type === 'RateLimited') return [[event.at, 1]]
    return event.type === 'Claimed' || event.type === 'DeadLettered' ? [[event.at, -1]] : []
  }), until)
  const { waitingByPriority, waitingByTenant } = found.series
  expect(waitingByPriority.reduce((sum, { tasks: each }) => sum + total(each), 0) / waiting).toBeCloseTo(1, 9)
  expect(waitingByTenant.reduce((sum, { tasks: each }) => sum + total(each), 0) / waiting).toBeCloseTo(1, 9)

  const ofMail = events.flatMap((event) => ((event.type === 'BreakerOpened' || event.type === 'BreakerClosed') && event.data.taskType === 'mail' ? [event] : []))
  let [held, since] = [0, Number.NaN]
  for (const { type, at } of ofMail) {
    if (type === 'BreakerClosed') held += at - since
    since = type === 'BreakerClosed' ? Number.NaN : Number.isNaN(since) ? at : since
  }
  if (!Number.isNaN(since)) held += until - since
  expect(found.breakers).toEqual(expect.arrayContaining([{ type: 'mail', opened: ofMail.filter(({ type }) => type === 'BreakerOpened').length, heldSeconds: held / 1_000 }]))
})

test('SIM: Little’s law: the time that tasks waited together is the area under the waiting tasks; agents are busy for as long as the tasks take', () => {
  const arrivals = Array.from({ length: 500 }, (_, i) => arrival(i * 7_000, 1_000 * (1 + ((i * 37) % 100))))
  const found = figures(workloadOf(arrivals, 6, 7_200))
  const total = (values: ReadonlyArray<number>) => values.reduce((sum, value) => sum + value, 0) * found.series.pieceSeconds
  expect(found.completed).toBe(500)
  expect(total(found.series.waitingByPriority[0]?.tasks ?? [])).toBeCloseTo(found.all.waits.mean * 500, 3)
  const work = arrivals.reduce((sum, task) => sum + task.outcome(1, 0).runMs, 0) / 1_000
  expect(total(found.series.busy)).toBeCloseTo(work, 3)
  expect(found.utilisation).toBeCloseTo(work / (6 * 7_200), 9)
})

test('SIM: an agent that crashes loses its tasks at the end of their leases, which its heartbeats kept until the crash', () => {
  const workload = workloadOf([arrival(0, 3_600_000)], 1, 7_200)
  const [agent] = workload.agents
  const crash = from + 150_000
  const crashing = { ...workload, agents: [{ ...agent!, periods: [{ from, to: crash, endsBy: 'crash' as const }, { from: crash + 60_000, to: workload.until, endsBy: 'shift' as const }] }] }
  const { events } = record(crashing, { patches: [manyAgents], limits: {} })
  // Heartbeats every 20 s: the last at 140 s, and the lease is a minute long.
  expect(events.filter(({ type }) => type === 'ClaimExpired').map(({ at }) => (at - from) / 1_000)).toEqual([200])
  expect(events.flatMap((event) => (event.type === 'Claimed' ? [[(event.at - from) / 1_000, event.data.agent]] : []))).toEqual([[0, 'a0'], [210, 'a0~2']])
  expect(events.filter(({ type }) => type === 'Completed').map(({ at }) => (at - from) / 1_000)).toEqual([210 + 3_600])
})

test('SIM: where as many agents are registered as a queue takes, those that start after a crash work without it', () => {
  const scenario = scenarioOf({ duration: '3m', streams: [{ type: 'work', arrivals: { every: '1s' }, duration: '1s' }], agents: [{ name: 'x', count: 10_000, crashesPerDay: 200, restart: '1s' }] })
  const { policies: { settings } } = simulate(scenario, { patch: manyAgents })
  expect(settings.pools[0]?.crashes).toBeGreaterThan(1_000)
  expect(settings.completed).toBeGreaterThan(170)
})

test('SIM: at the end of its shift an agent finishes what it has, and takes no more', () => {
  const workload = workloadOf([arrival(0, 100_000), arrival(0, 100_000)], 1, 600)
  const [agent] = workload.agents
  const found = figures({ ...workload, agents: [{ ...agent!, periods: [{ from, to: from + 50_000, endsBy: 'shift' }] }] })
  expect([found.completed, found.waitingAtEnd, found.utilisation]).toEqual([1, 1, 1])
})

test('SIM: capacity, limits and shares hold: the settings do in a simulation what they do in a server', () => {
  const tasks = (tenant: string) => Array.from({ length: 300 }, () => arrival(0, 60_000, { tenant }))
  const workload = workloadOf([...tasks('a'), ...tasks('b')], 10, 3_600)
  const busy = (of: ReturnType<typeof figures>) => Math.max(...of.series.busy)
  expect(busy(figures(workload))).toBe(10)
  expect(busy(figures(workload, { capacity: { maxConcurrentAgents: 4 } }))).toBe(4)
  expect(busy(figuresOf(workload, { patches: [manyAgents], limits: { 'type:work': { concurrency: 3 } } }))).toBe(3)
  const shares = figuresOf(workload, { patches: [{ ...manyAgents, assignment: { tenants: { a: 3 } } }], limits: { 'type:work': { concurrency: 8 } } }).fairness
  const [a, b] = shares.tenants
  expect((a?.got ?? 0) / (b?.got ?? 1)).toBeCloseTo(3, 1)
  expect(shares.jain).toBeGreaterThan(0.999)
  // First come, first served knows no tenants.
  const fifo = figuresOf(workload, { patches: [{ ...manyAgents, assignment: { tenants: { a: 3 } } }], limits: { 'type:work': { concurrency: 8 } } }, 'fifo').fairness
  expect(fifo.tenants.map(({ tenant, got }) => [tenant, got > 0])).toEqual([['a', true], ['b', false]])
})

test('SIM: only tenants that had tasks waiting all the time are compared, in windows of five minutes', () => {
  const backlog = (tenant: string, tasks: number) => Array.from({ length: tasks }, () => arrival(0, 30_000, { tenant }))
  const now = (tenant: string, at: number) => arrival(at, 30_000, { tenant })
  // c asks for one task now and then, and runs out in between; d has 55 tasks, and runs out in the third window.
  const tasks = [...backlog('a', 2_000), ...backlog('b', 2_000), ...backlog('d', 55), ...Array.from({ length: 50 }, (_, i) => now('c', 30_000 * i + 100))].sort((x, y) => x.at - y.at)
  const workload = workloadOf(tasks, 8, 1_500)
  const rules = { patches: [{ ...manyAgents, assignment: { tenants: { a: 2 } } }], limits: {} }
  const { fairness } = figuresOf(workload, rules)
  const weights = new Map([['a', 2], ['b', 1], ['c', 1], ['d', 1]])
  const { events } = record(workload, rules)
  const sums = new Map([...weights.keys()].map((tenant) => [tenant, { due: 0, got: 0 }]))
  for (let window = 0; window < 5; window++) {
    const [begin, end] = [from + window * 300_000, from + (window + 1) * 300_000]
    const readyAt = (tenant: string, at: number, claimsAt: (claim: number) => boolean) =>
      tasks.filter((task) => task.tenant === tenant && task.at <= at).length - claimsOf(tenant).filter(claimsAt).length
    const claimsOf = (tenant: string) => events.flatMap((event) => (event.type === 'Claimed' && tasks[Number(event.data.task.slice(1))]?.tenant === tenant ? [event.at] : []))
    const steps = (tenant: string) => [...tasks.filter((task) => task.tenant === tenant).map(({ at }) => at), ...claimsOf(tenant)].filter((at) => at >= begin && at < end)
    // Nobody has tasks before the first window.
    const compared = window === 0 ? [] : [...weights.keys()].filter((tenant) =>
      readyAt(tenant, begin - 1, (claim) => claim < begin) > 0 && steps(tenant).every((at) => readyAt(tenant, at, (claim) => claim <= at) > 0))
    if (compared.length < 2) continue
    const got = (tenant: string) => claimsOf(tenant).filter((at) => at >= begin && at < end).length
    const [claims, weight] = [compared.reduce((sum, tenant) => sum + got(tenant), 0), compared.reduce((sum, tenant) => sum + (weights.get(tenant) ?? 1), 0)]
    for (const tenant of compared) {
      const sum = sums.get(tenant)!
      sum.got += got(tenant)
      sum.due += (claims * (weights.get(tenant) ?? 1)) / weight
    }
  }
  expect(fairness.tenants.map(({ tenant, got }) => [tenant, got])).toEqual([...sums].map(([tenant, { got }]) => [tenant, got]))
  for (const { tenant, due } of fairness.tenants) expect(due).toBeCloseTo(sums.get(tenant ?? '')?.due ?? Number.NaN, 6)
  expect([...sums.values()].map(({ got }) => got > 0)).toEqual([true, true, false, true])
})

test('SIM: what was hardly meant is noted', () => {
  const notes = (more: object) => simulate(scenarioOf({ duration: '1h', streams: [{ type: 'work', arrivals: { every: '1h' }, duration: 1 }], agents: [{ name: 'x', count: 1 }], ...more })).notes
  expect(notes({})).toEqual([])
  expect(notes({ agents: [{ name: 'x', count: 12 }] })).toEqual(['there are 12 agents, and capacity.maxConcurrentAgents lets 10 of them work at a time'])
  expect(notes({ agents: [{ name: 'x', count: 1, types: ['wrok'] }] })).toEqual(['no agents take the tasks of work: see types, phases and skills'])
  expect(notes({ settings: { tenants: 'isolated' } })).toEqual(['tenants: isolated changes nothing here, because the agents work for all tenants'])
  expect(notes({ outages: [{ types: ['wrok'], from: 0, to: 60 }] })).toEqual(['no stream has tasks of the types wrok, which have an outage'])
})

test('SIM: Jain’s index by its definition', () => {
  expect(jainIndex([{ due: 10, got: 10 }, { due: 5, got: 5 }])).toBe(1)
  expect(jainIndex([{ due: 10, got: 20 }, { due: 10, got: 0 }])).toBe(0.5)
  expect(jainIndex([{ due: 10, got: 10 }, { due: 0, got: 0 }])).toBe(null)
})

test('SIM: arrivals come as often as said, durations have the percentiles that were said', () => {
  const hours = Array.from({ length: 24 }, (_, hour) => (hour % 2 === 0 ? 2_000 : 0))
  const { arrivals } = generate(scenarioOf({
    duration: '48h',
    streams: [{ type: 'a', arrivals: { perHour: hours }, duration: { p50: '10s', p99: '2m' } }, { type: 'b', arrivals: { every: '1h', bursts: [{ at: '90m', tasks: 50, over: '10m' }] }, duration: 5, priority: { LOW: 1, '7': 3 } }],
    agents: [{ name: 'x', count: 1 }],
  }))
  const ofA = arrivals.filter(({ type }) => type === 'a')
  // 24 hours of 2,000: five standard deviations are 1,100.
  expect(Math.abs(ofA.length - 48_000)).toBeLessThan(1_100)
  expect(ofA.every(({ at }) => Math.floor((at - from) / 3_600_000) % 2 === 0)).toBe(true)
  const durations = ofA.map((task) => task.outcome(1, task.at).runMs / 1_000)
  const below = (seconds: number) => durations.filter((value) => value <= seconds).length / durations.length
  expect(below(10)).toBeCloseTo(0.5, 1)
  expect(Math.abs(below(120) - 0.99)).toBeLessThan(0.003)
  const ofB = arrivals.filter(({ type }) => type === 'b')
  expect(ofB.length).toBe(48 + 50)
  expect(ofB.filter(({ at }) => at - from > 5_400_000 && at - from < 6_000_000).length).toBeGreaterThanOrEqual(49)
  expect(ofB.every(({ priority }) => priority === 3 || priority === 7)).toBe(true)
})
