/** The simulator against queueing theory, where theory has a formula. The seeds are fixed, so these tests give the same result each time. */
import { figuresOf, generate, type Workload } from '@daybook/projections/simulate'
import { expect, test } from 'vitest'
import { figures, manyAgents, scenarioOf } from './workloads.js'

const runs = 20
/** Student's t for 19 degrees of freedom: a right simulation is beyond it in one of ten thousand choices of seeds. */
const t = 4.9

interface Queue {
  readonly servers: number
  readonly perHour: number
  readonly serviceSeconds: number
}

/** Poisson arrivals, exponential service. */
const markovian = ({ servers, perHour, serviceSeconds }: Queue, seed: number, priority: unknown = 5): Workload =>
  generate(scenarioOf({
    duration: `${Math.ceil(3_000 / perHour)}h`,
    streams: [{ type: 'work', priority, arrivals: { perHour }, duration: { exponential: serviceSeconds } }],
    agents: [{ name: 'server', count: servers }],
  }), seed)

/** Mean and its standard error. */
const estimate = (values: ReadonlyArray<number>) => {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1)
  return { mean, error: Math.sqrt(variance / values.length) }
}
const agrees = (values: ReadonlyArray<number>, theory: number): boolean => {
  const { mean, error } = estimate(values)
  // A wide error would agree with anything.
  expect(error / mean).toBeLessThan(0.08)
  return Math.abs(mean - theory) <= t * error
}

/** The mean wait in an M/M/c queue (Erlang C). */
const erlangWait = ({ servers, perHour, serviceSeconds }: Queue): number => {
  const load = (perHour / 3_600) * serviceSeconds
  let [term, sum] = [1, 1]
  for (let k = 1; k < servers; k++) sum += term *= load / k
  const last = ((term * load) / servers) * (servers / (servers - load))
  return ((last / (sum + last)) * serviceSeconds) / (servers - load)
}

const queues: ReadonlyArray<Queue> = [
  { servers: 1, perHour: 500, serviceSeconds: 3.6 },
  { servers: 4, perHour: 700, serviceSeconds: 15 },
]
const waits = (queue: Queue, change: (workload: Workload) => Workload = (same) => same): ReadonlyArray<number> =>
  Array.from({ length: runs }, (_, i) => figures(change(markovian(queue, i + 1))).all.waits.mean)

test.each(queues)('SIM: the mean wait of an M/M/$servers queue is that of Erlang’s formula', (queue) => {
  expect(agrees(waits(queue), erlangWait(queue))).toBe(true)
})

test('SIM: teeth: tasks that take a tenth longer than they should, or one agent too many, are found out', () => {
  const [, queue] = queues as [Queue, Queue]
  const slow = (workload: Workload): Workload => ({
    ...workload,
    arrivals: workload.arrivals.map((task) => ({ ...task, outcome: (attempt, at) => ({ ...task.outcome(attempt, at), runMs: Math.round(task.outcome(attempt, at).runMs * 1.1) }) })),
  })
  const fifth = (workload: Workload): Workload => ({ ...workload, agents: [...workload.agents, { ...(workload.agents[0] as Workload['agents'][number]), name: 'fifth' }] })
  expect(agrees(waits(queue, slow), erlangWait(queue))).toBe(false)
  expect(agrees(waits(queue, fifth), erlangWait(queue))).toBe(false)
})

test('SIM: under strict priority each class waits as Cobham’s formula has it, and plain FIFO takes nothing from the mean', () => {
  const queue = { servers: 1, perHour: 600, serviceSeconds: 3.6 }
  const workloads = Array.from({ length: runs }, (_, i) => markovian(queue, i + 1, { HIGH: 1, LOW: 1 }))
  const rules = { patches: [manyAgents], limits: {} }
  const strict = workloads.map((workload) => figuresOf(workload, rules, 'strict'))
  const fifo = workloads.map((workload) => figuresOf(workload, rules, 'fifo'))
  const [load, ofHigh] = [0.6, 0.3]
  const residual = load * queue.serviceSeconds
  const ofPriority = (priority: number) => strict.map(({ byPriority }) => byPriority.find((group) => group.priority === priority)?.waits.mean ?? Number.NaN)
  expect(agrees(ofPriority(8), residual / (1 - ofHigh))).toBe(true)
  expect(agrees(ofPriority(3), residual / ((1 - ofHigh) * (1 - load)))).toBe(true)
  expect(agrees(fifo.map(({ all }) => all.waits.mean), residual / (1 - load))).toBe(true)
  // Under FIFO a high priority makes no difference.
  const gap = fifo.map(({ byPriority: [high, low] }) => (high?.waits.mean ?? 0) - (low?.waits.mean ?? 0))
  const { mean, error } = estimate(gap)
  expect(Math.abs(mean)).toBeLessThanOrEqual(t * error)
})
