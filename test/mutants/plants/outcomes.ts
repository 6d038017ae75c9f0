/** What becomes of tasks that cannot be finished now. */
import type { Plant } from '../plant.js'

const core = 'packages/core/src/'
const parks = ['test/core/park.test.ts']

const limits = ['test/core/rate-limit.test.ts']

export const outcomePlants: ReadonlyArray<Plant> = [
  // Rate limits.
  {
    title: 'any number that contains 429 is a rate limit',
    file: `${core}rate-limit.ts`,
    find: '  /\\btoo[\\s_-]{1,3}many',
    replace: '  /429/,\n  /\\btoo[\\s_-]{1,3}many',
    killedBy: limits,
  },
  {
    title: 'a Retry-After is believed, whatever it says',
    file: `${core}rate-limit.ts`,
    find: 'Math.min(Math.max(1, Math.round(ms)), retryAfterMaxSeconds * 1_000)',
    replace: 'Math.max(1, Math.round(ms))',
    killedBy: limits,
  },
  {
    title: 'a Retry-After of zero, or in the past, is taken at its word',
    file: `${core}rate-limit.ts`,
    find: '(ms > 0 ?',
    replace: '(!Number.isNaN(ms) ?',
    killedBy: limits,
  },
  {
    title: 'a rate limit is a failed attempt',
    file: `${core}fold/rate-limit.ts`,
    find: "'rate-limited', 0, 0,",
    replace: "'rate-limited', 1, 1,",
    killedBy: limits,
  },
  {
    title: 'the agent of a rate limit goes on at once',
    file: `${core}gates.ts`,
    find: 'isShut: ({ sleepers }, agent) => sleepers.has(agent)',
    replace: 'isShut: () => false',
    killedBy: limits,
  },
  {
    title: 'nobody slows down',
    file: `${core}gates.ts`,
    find: 'isShut: ({ slowdowns }, type) => slowdowns.has(type)',
    replace: 'isShut: () => false',
    killedBy: limits,
  },
  {
    title: 'a slow-down lasts as long as the service asks for',
    file: `${core}decide/rate-limit.ts`,
    find: 'Math.min(waitMs, max * 1_000) * slowdownFactor',
    replace: 'waitMs * slowdownFactor',
    killedBy: limits,
  },
  {
    title: 'the rate limits of a task have no end',
    file: `${core}decide/rate-limit.ts`,
    find: 'retryable && count <= maxPerTask',
    replace: 'retryable',
    killedBy: limits,
  },
  {
    title: 'a claim that waits is not woken when its agent is resumed',
    file: `${core}fold/rate-limit.ts`,
    find: '  tables.ready.wakeAll()\n',
    replace: '',
    killedBy: ['test/engine/rate-limit.test.ts'],
  },
  {
    title: 'a slow-down ends in the state, and its groups stay closed',
    file: `${core}tables.ts`,
    find: 'for (const share of this.ready.breakerMoved(type)) this.shares.comeBack(share)\n  }\n\n  private enter',
    replace: 'if (until > 0) this.ready.breakerMoved(type)\n  }\n\n  private enter',
    killedBy: limits,
  },
  {
    title: 'a slow-down is lost with a snapshot',
    file: `${core}snapshot.ts`,
    find: 'for (const { name, until } of slowdowns) loaded.slowDown(name, until)',
    replace: '',
    killedBy: ['test/properties/invariants.test.ts'],
  },
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
