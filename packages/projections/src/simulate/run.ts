/** Runs a workload through a queue with these settings, in virtual time. Deterministic: equal arguments, equal events. */
import { type Limit, type PreparedTask, type SettingsPatch } from '@daybook/core'
import { FleetAgent, longestLease, type World } from './fleet.js'
import type { Observer } from './observer.js'
import { randomOf } from './random.js'
import { Timeline } from './timeline.js'
import { VirtualQueue } from './virtual-queue.js'
import type { Arrival, Workload } from './workload.js'

export interface QueueRules {
  /** Changes of the settings, one after the other. */
  readonly patches: ReadonlyArray<SettingsPatch>
  readonly limits: Readonly<Record<string, Limit>>
}

/** The id of the task of an arrival, and back. */
export const taskId = (index: number): string => `t${index}`
export const indexOfTask = (id: string): number => Number(id.slice(1))

export const run = ({ from, until, arrivals, pools, agents }: Workload, { patches, limits }: QueueRules, observer: Observer): void => {
  const attempts = new Uint16Array(arrivals.length)
  const queue = new VirtualQueue(from, observer.event, randomOf(0))
  const timeline = new Timeline(queue, until)
  const world: World = {
    queue,
    observer,
    until,
    after: (at, run) => timeline.after(at, run),
    wantsTask: (agent) => timeline.wantsTask(agent),
    begin: (task) => {
      const index = indexOfTask(task)
      const attempt = ((attempts[index] as number) += 1)
      return { index, outcome: (arrivals[index] as Arrival).outcome(attempt, queue.at) }
    },
  }

  for (const patch of patches) queue.do({ type: 'Configure', patch })
  for (const [key, limit] of Object.entries(limits)) queue.do({ type: 'SetLimit', key, ...limit })
  for (const agent of agents) new FleetAgent(agent, pools[agent.pool] as Workload['pools'][number], world)

  timeline.run(arrivals, (arrival, index) => queue.do({ type: 'Enqueue', tasks: [preparedTask(arrival, index)] }))
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
