/** A second account of a run, naive and slow, from the list of all that was told. */
import type { QueueEvent } from '@daybook/core'
import { indexOfTask, type Observer, type QueueRules, run, type Workload } from '@daybook/projections/simulate'

export interface Telling {
  readonly kind: 'started' | 'ended' | 'places'
  readonly at: number
  readonly pool: number
  readonly what: number
}

export const record = (workload: Workload, rules: QueueRules): { readonly events: ReadonlyArray<QueueEvent>; readonly told: ReadonlyArray<Telling> } => {
  const events: Array<QueueEvent> = []
  const told: Array<Telling> = []
  const observer: Observer = {
    event: (event) => void events.push(event),
    started: (at, pool, what) => void told.push({ kind: 'started', at, pool, what }),
    ended: (at, pool) => void told.push({ kind: 'ended', at, pool, what: -1 }),
    places: (at, pool, what) => void told.push({ kind: 'places', at, pool, what }),
    crashed: () => undefined,
  }
  run(workload, rules, observer)
  return { events, told }
}

export type Fate = 'waiting' | 'running' | 'completed' | 'dead'

/** What the log says of each task. */
export const fatesOf = (events: ReadonlyArray<QueueEvent>, tasks: number) => {
  const fates = Array.from({ length: tasks }, () => ({ fate: 'waiting' as Fate, firstClaim: Number.NaN, endedAt: Number.NaN, claims: 0 }))
  for (const { type, at, data } of events) {
    if (!('task' in data)) continue
    const task = fates[indexOfTask(data.task)]
    if (task === undefined) throw new Error(`no task ${data.task}`)
    if (type === 'Claimed') {
      if (task.claims++ === 0) task.firstClaim = at
      task.fate = 'running'
    } else if (type === 'Completed' || type === 'DeadLettered') {
      task.fate = type === 'Completed' ? 'completed' : 'dead'
      task.endedAt = at
    } else if (type !== 'TaskEnqueued') task.fate = 'waiting'
  }
  return fates
}

/** The area under what changes by these steps, up to `until`. */
export const area = (steps: ReadonlyArray<readonly [at: number, by: number]>, until: number): number =>
  steps.reduce((sum, [at, by]) => sum + by * (until - at), 0)

/** The nearest rank, by counting. */
export const rank = (values: ReadonlyArray<number>, share: number): number => {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted.find((value) => sorted.filter((other) => other <= value).length >= share * sorted.length - 1e-9) ?? 0
}
