/** Tasks whose deadlines come: the calendar queue, and the moves to other lanes. */
import type { Plant } from '../plant.js'

const ready = 'packages/core/src/ready/'

export const deadlinePlants: ReadonlyArray<Plant> = [
  {
    title: 'after a replay the deadlines whose windows are to come are forgotten',
    file: `${ready}placements.ts`,
    find: '    this.waiting.fill(early)\n',
    replace: '',
    killedBy: ['test/core/replay.test.ts'],
  },
  {
    title: 'after a replay the deadlines whose windows have begun are forgotten',
    file: `${ready}placements.ts`,
    find: '      else this.add(task)\n',
    replace: '',
    killedBy: ['test/core/replay.test.ts'],
  },
  {
    title: 'of a calendar queue that is filled at once, only the first item of each bucket is kept',
    file: 'packages/core/src/structures/calendar-queue.ts',
    find: 'bucket.fill(sorted.slice(from, to))',
    replace: 'bucket.fill(sorted.slice(from, from + 1))',
    killedBy: ['test/properties/calendar-queue.test.ts'],
  },
  {
    title: 'when the first ten seconds of a calendar queue are over, the next are not put in order',
    file: 'packages/core/src/structures/calendar-queue.ts',
    find: 'this.numbers.remove(number)\n    this.sortFirst()',
    replace: 'this.numbers.remove(number)',
    killedBy: ['test/properties/calendar-queue.test.ts'],
  },
  {
    title: 'a bucket of a calendar queue is not divided, and sorted at once when its time comes',
    file: 'packages/core/src/structures/calendar-queue.ts',
    find: 'const unsortedMax = 512',
    replace: 'const unsortedMax = 1e9',
    killedBy: ['test/properties/calendar-queue.test.ts'],
  },
  {
    title: 'the items of a divided bucket that are due are not found',
    file: 'packages/core/src/structures/calendar-queue.ts',
    find: 'yield* bucket.until(at)',
    replace: 'yield* bucket.until(at - 100)',
    killedBy: ['test/properties/calendar-queue.test.ts'],
  },
  {
    title: 'of very many tasks whose deadlines come at once, some are moved after claims have looked at all of them',
    file: 'packages/adapters/src/engine/engine.ts',
    find: 'this.decider.settle()) return this.schedule()',
    replace: 'this.decider.settle()) this.schedule()',
    killedBy: ['test/engine/deadlines.test.ts'],
  },
  {
    title: 'tasks are not moved to the lanes in which they are at a later time',
    file: 'packages/core/src/ready/ready-index.ts',
    find: 'for (let moved = 0; moved < max; moved++) {',
    replace: 'for (let moved = 0; moved < Math.min(max, 1_000); moved++) {',
    killedBy: ['test/core/claim-cost.test.ts'],
  },
]
