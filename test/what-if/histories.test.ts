/** What-if over random histories of the queue: whatever happened, it can be modelled, and nothing is lost. */
import { whatIf } from '@daybook/projections/what-if'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { scenarios } from '../properties/steps.js'
import { World } from '../properties/world.js'
import { recordingOf } from './recordings.js'

const histories = scenarios(80).map((scenario) => new World(() => ({})).run(scenario).log)
const runs = { numRuns: Number(process.env.HISTORIES ?? 0) > 0 ? Math.min(500, Number(process.env.HISTORIES)) : 100 }

test('EV-06: what-if of any history: every task is completed, dead, gone, waiting or with an agent, twice the same', () => {
  fc.assert(
    fc.property(histories, fc.double({ min: 0, max: 1, noNaN: true }), (log, part) => {
      const [first, last] = [log[0], log[log.length - 1]]
      if (first === undefined || last === undefined) return
      const begin = first.at + Math.floor((last.at - first.at) * part)
      const run = () => whatIf(recordingOf(log, begin, last.at + 1), { patch: { policy: 'score' } })
      const { figures } = run()
      const inPeriod = log.filter(({ at }) => at >= begin)
      const imported = new Set(log.flatMap(({ type, data }) => (type === 'TaskImported' ? [data.task] : [])))
      expect(figures.recorded.completed).toBe(inPeriod.filter(({ type, data }) => type === 'Completed' && 'task' in data && !imported.has(data.task)).length)
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
