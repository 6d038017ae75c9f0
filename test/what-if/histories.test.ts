/** What-if over random histories of the queue: whatever happened, it can be modelled, and nothing is lost. */
import type { QueueEvent } from '@daybook/core'
import { whatIf } from '@daybook/projections/what-if'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { scenarios } from '../properties/steps.js'
import { World } from '../properties/world.js'
import { share } from '../support/share.js'
import { recordingOf } from './recordings.js'

const periodMax = 3_600_000

const histories = scenarios(80).map((scenario) => new World(() => ({})).run(scenario).log)
const runs = { numRuns: Number(process.env.HISTORIES ?? 0) > 0 ? Math.min(500, Number(process.env.HISTORIES)) : 100 }

/** How many were completed, but for those that were imported in the period, which do not count as its arrivals. */
const completedOf = (events: ReadonlyArray<QueueEvent>, begin: number): number => {
  const imported = new Set<string>()
  let count = 0
  for (const { at, type, data } of events) {
    if (at < begin) continue
    if (type === 'TaskImported') imported.add(data.task)
    else if (type === 'TaskEnqueued') imported.delete(data.task)
    else if (type === 'Completed' && !imported.has(data.task)) count++
  }
  return count
}

test('EV-06: what-if of any history: every task is completed, dead, gone, waiting or with an agent, twice the same', () => {
  fc.assert(
    fc.property(histories, share, (log, part) => {
      const [first, last] = [log[0], log[log.length - 1]]
      if (first === undefined || last === undefined) return
      const begin = first.at + Math.floor((last.at - first.at) * part)
      // Histories jump by a week at times, in which modelled agents with leases of a second extend them two million times.
      const until = Math.min(last.at + 1, begin + periodMax)
      const recorded = log.filter(({ at }) => at < until)
      const run = () => whatIf(recordingOf(recorded, begin, until), { patch: { policy: 'score' } })
      const { figures } = run()
      expect(figures.recorded.completed).toBe(completedOf(recorded, begin))
      for (const { arrived, completed, all, waitingAtEnd, runningAtEnd } of Object.values(figures)) {
        expect(completed + all.deadLetters + waitingAtEnd + runningAtEnd).toBeLessThanOrEqual(arrived)
        expect(all.waits.tasks).toBeLessThanOrEqual(arrived)
        expect(Math.min(waitingAtEnd, runningAtEnd, completed)).toBeGreaterThanOrEqual(0)
      }
      expect(JSON.stringify(run().figures)).toBe(JSON.stringify(figures))
    }),
    runs,
  )
})
