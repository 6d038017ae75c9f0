/** When a worker with `--until-empty` has nothing more to expect. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Status, TaskView } from '@daybook/client'
import type { TaskWorker } from '@daybook/client/worker'
import { type DaybookClient, DaybookError } from '../client/index.js'
import type { ClaimOptions } from './claim-options.js'
import { isOutage } from './outage.js'

/** Statuses of tasks that may become claimable by themselves, or by the work of other agents: now, after a retry, or after a callback. */
const stillToCome: ReadonlyArray<Status> = ['pending', 'scheduled', 'waiting', 'queued', 'in-progress']

/** The shortest pause between two looks, in milliseconds. */
const lookMs = 250
/** A pause is at least this many times as long as the look before it, so that looking takes a fifth of the time at most. */
const restFactor = 4

type Asked = Pick<ClaimOptions, 'types' | 'phases' | 'skills' | 'tenant'>

/** Stops the worker when none of the tasks that it may claim is still to come, and none of them is blocked by one that is. */
export const stopWhenEmpty = async (worker: TaskWorker, client: DaybookClient, asked: Asked): Promise<void> => {
  for (;;) {
    await worker.drained()
    if (worker.stats().state !== 'running') return
    const begun = performance.now()
    if (!(await mayGetMore(client, asked).catch(unknownIn))) return worker.stop()
    await delay(Math.max(lookMs, restFactor * (performance.now() - begun)))
  }
}

/** A server that is away says nothing about tasks: the worker waits for it as well, and tells of it. */
const unknownIn = (error: unknown): true => {
  if (!isOutage(error)) throw error
  return true
}

const mayGetMore = async (client: DaybookClient, asked: Asked): Promise<boolean> => {
  for (const type of asked.types ?? ['*']) {
    const filter = { type, ...(asked.tenant === undefined ? {} : { tenant: asked.tenant }) }
    for await (const task of client.eachTask({ ...filter, status: stillToCome })) if (mayClaim(asked, task)) return true
    // Those on which they wait may be of any type: other workers complete them.
    const seen = new Set<string>()
    for await (const task of client.eachTask({ ...filter, status: 'blocked' })) if (mayClaim(asked, task) && (await mayBeFreed(client, task.id, seen))) return true
  }
  return false
}

/** As claims match: a task without a phase matches every claim. */
const mayClaim = ({ phases, skills = [] }: Asked, { phase, requires }: TaskView): boolean =>
  (phases === undefined || phase === undefined || phases.includes(phase)) && (requires?.skills ?? []).every((skill) => skills.includes(skill))

/** Whether a blocked task waits, directly or through other blocked ones, for a task that is still to come. `seen`: blocked tasks that do not. */
const mayBeFreed = async (client: DaybookClient, blocked: string, seen: Set<string>): Promise<boolean> => {
  const rest = [blocked]
  for (let id = rest.pop(); id !== undefined; id = rest.pop()) {
    if (seen.has(id)) continue
    seen.add(id)
    const task = await client.task(id).catch(forgotten)
    // It has ended and is forgotten already, so those behind it may be free.
    if (task === undefined || stillToCome.includes(task.status)) return true
    for (const { blockedBy = [] } of task.reasons ?? []) {
      if (blockedBy.some((by) => stillToCome.includes(by.status))) return true
      rest.push(...blockedBy.flatMap((by) => (by.status === 'blocked' ? [by.id] : [])))
    }
  }
  return false
}

const forgotten = (error: unknown): undefined => {
  if (!(error instanceof DaybookError && error.code === 'not-found')) throw error
}
