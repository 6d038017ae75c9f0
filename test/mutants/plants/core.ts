/** Decisions, the fold, and the tables behind them. */
import type { Plant } from '../plant.js'

const decide = 'packages/core/src/decide/'
const claims = 'test/core/claim.test.ts'
const fence = 'test/core/fence.test.ts'

export const corePlants: ReadonlyArray<Plant> = [
  {
    title: 'a bulk retry brings back two tasks of one key',
    file: `${decide}dead-letters.ts`,
    find: 'rival === undefined && !keys.has(task.key)',
    replace: 'rival === undefined',
    killedBy: ['test/core/review.test.ts'],
  },
  {
    title: 'a report with an older token is accepted',
    file: `${decide}lookup.ts`,
    find: 'lease.token === claim.token && lease.agent',
    replace: 'lease.agent',
    killedBy: [fence],
  },
  {
    title: "a task's id is paired with another task's valid token",
    file: 'packages/core/src/tables.ts',
    find: 'task?.id === id ? (this.asked = task) : undefined',
    replace: '(this.asked = task)',
    killedBy: [fence],
  },
  {
    title: 'a task that its agent has released is given to it again',
    file: `${decide}claim.ts`,
    find: 'task.extras.claimants?.includes(request.agent) === true',
    replace: 'false',
    killedBy: [claims],
  },
]
