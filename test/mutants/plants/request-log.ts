/** The log of requests. */
import type { Plant } from '../plant.js'

const log = ['test/http/request-log.test.ts']
const canaries = ['test/http/log-canaries.test.ts']

export const requestLogPlants: ReadonlyArray<Plant> = [
  {
    title: 'request log: a line has the path with its ids and its query',
    file: 'packages/adapters/src/http/request-log/watch-requests.ts',
    find: 'route: routeOf(request),',
    replace: 'route: request.url,',
    killedBy: canaries,
  },
  {
    title: 'request log: a line has whatever a stranger sent as the name of a queue',
    file: 'packages/adapters/src/http/request-log/watch-requests.ts',
    find: 'return QueueName.is(queue) ? queue : undefined',
    replace: 'return queue',
    killedBy: canaries,
  },
  {
    title: 'request log: what is left out is not counted',
    file: 'packages/adapters/src/http/request-log/line-budget.ts',
    find: '      tally.leftOut++\n',
    replace: '',
    killedBy: log,
  },
  {
    title: 'request log: errors have no bound',
    file: 'packages/adapters/src/http/request-log/line-budget.ts',
    find: 'tally.written >= linesPerKind || this.written >= linesInAll',
    replace: 'tally.written >= linesPerKind * 100',
    killedBy: log,
  },
  {
    title: 'request log: a claim that waited counts as slow',
    file: 'packages/adapters/src/http/request-log/request-log.ts',
    find: 'ms - waitMs >= slowMs',
    replace: 'ms >= slowMs',
    killedBy: log,
  },
  {
    title: 'request log: nobody knows whose token was refused',
    file: 'packages/adapters/src/http/guard.ts',
    find: '{ ...refusal, actor: checked.right.name }',
    replace: 'refusal',
    killedBy: log,
  },
]
