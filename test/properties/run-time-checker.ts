/** INV-31: no attempt takes longer than `maxRunSeconds` of its task, whatever its heartbeats. */
import type { ShadowTask } from '../support/states/index.js'
import { same } from './look.js'
import { type Checker, holds } from './world.js'

export const runsEnd = (): Checker => {
  /** When an attempt that begins at `from` ends at the latest. */
  const endOf = ({ facts: { maxRunSeconds = Number.POSITIVE_INFINITY } }: ShadowTask, from: number): number => from + maxRunSeconds * 1_000
  return {
    event: ({ shadow }, event) => {
      if (event.type !== 'Claimed' && event.type !== 'LeaseExtended' && event.type !== 'ClaimExpired') return
      const task = shadow.task(event.data.task) as ShadowTask
      const end = endOf(task, event.type === 'Claimed' ? event.at : (task.lease?.at ?? 0))
      if (event.type !== 'ClaimExpired') return holds(event.data.expiresAt <= end, `the lease of ${event.data.task} ends at ${event.data.expiresAt}, and its attempt may last until ${end}`)
      const cause = task.stage === 'incomplete' ? 'report-missing' : task.lease?.expiresAt === end ? 'ran-too-long' : 'lease-expired'
      same(event.data.cause, cause, `why the claim of ${event.data.task} has ended`)
    },
  }
}
