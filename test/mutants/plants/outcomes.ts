/** What becomes of tasks that cannot be finished now. */
import type { Plant } from '../plant.js'

const core = 'packages/core/src/'
const parks = ['test/core/park.test.ts']

export const outcomePlants: ReadonlyArray<Plant> = [
  // Parked tasks.
  {
    title: 'parking counts as an attempt',
    file: `${core}fold/park.ts`,
    find: "task.lease = { ...task.lease, end: 'parked' }",
    replace: "task.attempts++; task.lease = { ...task.lease, end: 'parked' }",
    killedBy: parks,
  },
  {
    title: 'a parked probe keeps its place',
    file: `${core}fold/park.ts`,
    find: '    freeProbe(tables, task)\n',
    replace: '',
    killedBy: parks,
  },
  {
    title: 'two tasks may wait for the same callback',
    file: `${core}decide/park.ts`,
    find: 'rival !== undefined',
    replace: 'false',
    killedBy: parks,
  },
  {
    title: 'a repeated callback is recorded again',
    file: `${core}decide/park.ts`,
    find: 'if (waitingFor(tables, callbackKey) === undefined) return E.right([])',
    replace: '',
    killedBy: parks,
  },
  {
    title: 'answered keys are remembered without a bound',
    file: `${core}fold/park.ts`,
    find: '.slice(-answeredMax)',
    replace: '',
    killedBy: parks,
  },
  {
    title: 'a key that was answered stays with its first task',
    file: `${core}fold/park.ts`,
    find: 'forgetAnswer(tables, owner, task, key)',
    replace: '',
    killedBy: [...parks, 'test/properties/invariants.test.ts'],
  },
  {
    title: 'a callback leaves no trace for the next claim',
    file: `${core}fold/park.ts`,
    find: '{ ...parking, callback, answered:',
    replace: '{ ...parking, answered:',
    killedBy: parks,
  },
  {
    title: 'the last callback is handed out after another wait, too',
    file: `${core}fold/park.ts`,
    find: 'const parking: Parking = { key, onTimeout, answered }',
    replace: 'const parking: Parking = { ...task.extras.parking, key, onTimeout, answered }',
    killedBy: parks,
  },
  {
    title: 'a wait that times out fails, whatever its agent asked for',
    file: `${core}decide/draft.ts`,
    find: "onTimeout === 'fail' && task.lease !== null",
    replace: 'task.lease !== null',
    killedBy: parks,
  },
  {
    title: 'a wait that times out counts for no breaker',
    file: `${core}fold/park.ts`,
    find: 'task.lease !== null && countsAttempts(tables, task)',
    replace: 'false',
    killedBy: parks,
  },
  {
    title: 'a wait never ends',
    file: `${core}tables.ts`,
    find: "else if (status === 'scheduled' || status === 'waiting') this.delays.add(task)",
    replace: "else if (status === 'scheduled') this.delays.add(task)",
    killedBy: parks,
  },
  {
    title: 'a rollback takes the key of another task with it',
    file: `${core}tables.ts`,
    find: 'this.byCallback.get(each) === task && this.byCallback.delete(each)',
    replace: 'this.byCallback.delete(each)',
    killedBy: ['test/core/park.test.ts'],
  },
  {
    title: 'a handler that parks its task has failed',
    file: 'packages/adapters/src/worker/outcome.ts',
    find: 'if (error instanceof Park) return parked(run, agentId, error)',
    replace: '',
    killedBy: ['test/worker/end-to-end.test.ts'],
  },
]
