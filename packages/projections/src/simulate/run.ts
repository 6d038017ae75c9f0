/** Runs a workload through a queue with these settings, in virtual time. Deterministic: equal arguments, equal events. */
import { Heap, type Limit, type PreparedTask, type SettingsPatch } from '@daybook/core'
import { FleetAgent, longestLease, type World } from './fleet.js'
import type { Observer } from './observer.js'
import { randomOf } from './random.js'
import { VirtualQueue } from './virtual-queue.js'
import type { Arrival, Workload } from './workload.js'

export interface QueueRules {
  /** Changes of the settings, one after the other. */
  readonly patches: ReadonlyArray<SettingsPatch>
  readonly limits: Readonly<Record<string, Limit>>
}

interface Timer {
  readonly at: number
  /** Timers of the same millisecond run in the order in which they were set. */
  readonly order: number
  readonly run: () => void
}

/** The id of the task of an arrival, and back. */
export const taskId = (index: number): string => `t${index}`
export const indexOfTask = (id: string): number => Number(id.slice(1))

export const run = ({ from, until, arrivals, pools, agents }: Workload, { patches, limits }: QueueRules, observer: Observer): void => {
  const timers = new Heap<Timer>((a, b) => a.at < b.at || (a.at === b.at && a.order < b.order))
  let order = 0
  const attempts = new Uint16Array(arrivals.length)
  const asking: Array<FleetAgent> = []
  const queue = new VirtualQueue(from, observer.event, randomOf(0))
  const world: World = {
    queue,
    observer,
    until,
    after: (at, run) => {
      if (at < until) timers.add({ at, order: order++, run })
    },
    wantsTask: (agent) => void asking.push(agent),
    begin: (task) => {
      const index = indexOfTask(task)
      const attempt = ((attempts[index] as number) += 1)
      return { index, outcome: (arrivals[index] as Arrival).outcome(attempt, queue.at) }
    },
  }
  /** Waiting claims come before new ones. */
  const settle = (): void => {
    for (;;) {
      queue.serve()
      const agent = asking.shift()
      if (agent === undefined) return
      agent.ask()
    }
  }

  for (const patch of patches) queue.do({ type: 'Configure', patch })
  for (const [key, limit] of Object.entries(limits)) queue.do({ type: 'SetLimit', key, ...limit })
  for (const agent of agents) new FleetAgent(agent, pools[agent.pool] as Workload['pools'][number], world)

  for (let next = 0; ; ) {
    const arrival = arrivals[next]
    const at = Math.min(queue.dueAt, timers.first?.at ?? Number.POSITIVE_INFINITY, arrival?.at ?? Number.POSITIVE_INFINITY)
    if (at >= until) return
    queue.at = Math.max(queue.at, at)
    queue.tick()
    settle()
    for (let timer = timers.first; timer !== undefined && timer.at <= queue.at; timer = timers.first) {
      timers.removeFirst()
      timer.run()
      settle()
    }
    for (; (arrivals[next]?.at ?? Number.POSITIVE_INFINITY) <= queue.at; next++) {
      queue.do({ type: 'Enqueue', tasks: [preparedTask(arrivals[next] as Arrival, next)] })
      settle()
    }
  }
}

const preparedTask = ({ type, priority, tenant, phase, skills, deadlineAt }: Arrival, index: number): PreparedTask => {
  const id = taskId(index)
  return {
    id,
    type,
    idempotencyKey: id,
    content: '{}',
    priority,
    timeout: longestLease,
    ...(tenant === undefined ? {} : { tenant }),
    ...(phase === undefined ? {} : { phase }),
    ...(skills === undefined ? {} : { skills }),
    ...(deadlineAt === undefined ? {} : { deadlineAt }),
  }
}
