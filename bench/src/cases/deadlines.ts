/** Very many deadlines at the same instant. */
import { openMemoryStore } from '@daybook/adapters/memory'
import { createDaybook, type QueueEngine } from '@daybook/adapters/engine'
import { type Case, type Figures, scaled } from '../case.js'
import { inParallel, newTask, nowMs, percentile } from '../measure.js'
import { caller, fill, right } from '../queue.js'

const hour = 3_600_000
/** In a new queue, the urgency window begins this many milliseconds before a deadline. */
const windowMs = 900_000

/** Milliseconds of each of `count` claims of one task by eight callers. */
const claimTimes = async (engine: QueueEngine, count: number): Promise<ReadonlyArray<number>> => {
  const times: Array<number> = []
  await inParallel(count, 8, async () => {
    const start = nowMs()
    const claims = right(await engine.claim({ type: 'Claim', agent: 'bench', max: 1 }, caller)).value
    times.push(nowMs() - start)
    if (claims.length === 0) throw new Error('nothing to claim')
  })
  return times
}

export const claimDeadlines: Case = {
  name: 'claim-deadlines',
  what: '200,000 tasks with the same deadline: 100 claims of one task by eight callers, before, from the instant on at which all become urgent, and from the deadline on; in memory',
  goals: { 'urgent: ms': ['≤', 2], 'urgent: slowest ms': ['≤', 500], 'late: ms': ['≤', 2], 'late: slowest ms': ['≤', 500] },
  run: async (_, scale) => {
    let ahead = 0
    const daybook = createDaybook({ store: openMemoryStore(), clock: () => Date.now() + ahead, monotonic: () => performance.now() + ahead, clockJumpMs: Number.POSITIVE_INFINITY })
    const engine = await daybook.open('deadlines')
    const deadlineAt = Date.now() + hour
    await fill(engine, scaled(200_000, scale, 5_000), () => ({ ...newTask(), deadlineAt }))
    const figures: Record<string, number> = {}
    const moments: ReadonlyArray<readonly [string, number]> = [['before', deadlineAt - 2 * windowMs], ['urgent', deadlineAt - windowMs], ['late', deadlineAt]]
    for (const [moment, at] of moments) {
      ahead = at - Date.now() + 1
      const cpu = process.cpuUsage()
      const times = await claimTimes(engine, 100)
      const { user, system } = process.cpuUsage(cpu)
      Object.assign(figures, { [`${moment}: ms`]: percentile(times, 0.5), [`${moment}: slowest ms`]: Math.max(...times), [`${moment}: CPU ms of all`]: (user + system) / 1_000 })
    }
    await daybook.close()
    return figures satisfies Figures
  },
}
