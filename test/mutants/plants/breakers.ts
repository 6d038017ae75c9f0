/** Circuit breakers. */
import type { Plant } from '../plant.js'

const core = 'packages/core/src/'
const decide = `${core}decide/`
const fold = `${core}fold/`
const breakers = ['test/core/breaker.test.ts']

export const breakerPlants: ReadonlyArray<Plant> = [
  {
    title: 'a half-open breaker admits a second task while its test runs',
    file: `${core}gates/gates.ts`,
    find: "breaker?.state === 'half-open' && breaker.probe !== null",
    replace: 'false',
    killedBy: breakers,
  },
  {
    title: 'a half-open breaker admits one test of each of its groups',
    file: `${decide}claim.ts`,
    find: 'if (next.probe) this.probed.add(next.task.group.type)',
    replace: '',
    killedBy: breakers,
  },
  {
    title: 'a released test keeps its place in the half-open breaker',
    file: `${fold}claim.ts`,
    find: '    freeProbe(tables, task)\n    if (retries === 0) return',
    replace: '    if (retries === 0) return',
    killedBy: breakers,
  },
  {
    title: 'a cancelled test keeps its place in the half-open breaker',
    file: `${core}fold/evolve.ts`,
    find: '      freeProbe(tables, found)\n',
    replace: '',
    killedBy: breakers,
  },
  {
    title: 'results of claims from before a breaker opened move it',
    file: `${decide}draft.ts`,
    find: "!== 'closed' || lease.epoch !== (breaker?.epoch ?? 0)",
    replace: "!== 'closed'",
    killedBy: breakers,
  },
  {
    title: 'failures of one tick are not added up',
    file: `${decide}draft.ts`,
    find: '+ (this.added.get(type) ?? 0) + 1',
    replace: '+ 1',
    killedBy: breakers,
  },
  {
    title: 'a success does not reset the failures of a closed breaker',
    file: `${fold}breaker.ts`,
    find: 'if (resets) b.failures = 0',
    replace: '',
    killedBy: breakers,
  },
  {
    title: 'a breaker that an operator opened closes by itself',
    file: `${fold}breaker.ts`,
    find: "event.data.cause === 'manual' ? 0 : event.at",
    replace: 'event.at',
    killedBy: breakers,
  },
  {
    title: 'each failure that a breaker counts looks at all groups of the type',
    file: `${core}state/breakers.ts`,
    find: 'if (breaker.state !== state || breaker.probe !== probe) this.moved',
    replace: 'this.moved',
    killedBy: ['test/core/breaker-cost.test.ts'],
  },
  {
    title: 'the test of a half-open breaker does not close the groups of the type',
    file: `${core}state/breakers.ts`,
    find: 'if (breaker.state !== state || breaker.probe !== probe) this.moved',
    replace: 'if (breaker.state !== state) this.moved',
    killedBy: breakers,
  },
  {
    title: 'each rate limit looks at all groups of the type',
    file: `${core}state/deadlines.ts`,
    find: 'if (from === undefined || to === undefined) moved(name)',
    replace: 'moved(name)',
    killedBy: ['test/core/breaker-cost.test.ts'],
  },
]
