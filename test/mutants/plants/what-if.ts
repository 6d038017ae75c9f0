/** What-if: recordings and their model. */
import type { Plant } from '../plant.js'

const folder = 'packages/projections/src/what-if/'
const days = ['test/what-if/what-if.test.ts']
const endings = ['test/what-if/endings.test.ts']

export const whatIfPlants: ReadonlyArray<Plant> = [
  { title: 'what-if: an agent that has gone comes back with its last report', file: `${folder}presence.ts`, find: 'if (this.isThere || isClaim) this.note(', replace: 'this.note(', killedBy: days },
  { title: 'what-if: an agent whose lease ended without a word goes on', file: `${folder}presence.ts`, find: '    this.registered = undefined\n    if (!this.isThere || this.holds > 0) return\n', replace: '    if (this.holds >= 0) return\n', killedBy: days },
  { title: 'what-if: retries have no jitter', file: `${folder}recorder.ts`, find: 'return Math.min(1 - Number.EPSILON, ', replace: 'return 0 * Math.min(1 - Number.EPSILON, ', killedBy: days },
  { title: 'what-if: silent agents keep their leases', file: `${folder}replay-agent.ts`, find: 'return isSilent(end) ? Math.max(1, ms) / 1_000 : undefined', replace: 'return isSilent(end) ? undefined : Math.max(1, ms) / 1_000 + 3e8', killedBy: days, named: 'crashes leave no word' },
  { title: 'what-if: agents send no heartbeats', file: `${folder}replay-agent.ts`, find: 'return expiresAt <= endsAt ? usual : undefined', replace: 'return expiresAt <= 0 ? usual : undefined', killedBy: endings },
  { title: 'what-if: what a completion brought comes when it came', file: `${folder}recorder.ts`, find: 'const parent = facts.generation !== undefined &&', replace: 'const parent = facts.generation === undefined &&', killedBy: endings },
  { title: 'what-if: recorded settings undo the changed ones', file: `${folder}model.ts`, find: "else if (command.type === 'Configure' && Object.keys(patch).length > 0) this.queue.do({ type: 'Configure', patch })", replace: '', killedBy: days },
  { title: 'what-if: both runs use the same state', file: `${folder}model.ts`, find: 'fork(start)', replace: 'start', killedBy: days },
  { title: 'what-if: tasks that came together come one by one', file: `${folder}recorder.ts`, find: 'else this.arriving.tasks.push(index)', replace: 'else this.inputs.push({ at, tasks: [index] })', killedBy: endings },
  { title: 'what-if: tasks that were cancelled together are cancelled one by one', file: `${folder}model.ts`, find: '}, areTogether)', replace: '}, () => areTogether === undefined)', killedBy: endings, named: 'cancelled together' },
  { title: 'what-if: what an agent had when the period began is forgotten', file: `${folder}model.ts`, find: '      agent.resume(facts.task, held)\n', replace: '', killedBy: days },
  { title: 'what-if: a finished task that is imported takes the place of the next with its id', file: `${folder}task-places.ts`, find: " && event.data.status === 'dead-letter'", replace: '', killedBy: endings },
  { title: 'what-if: tasks that began before the period count in waits', file: 'packages/projections/src/simulate/ledger.ts', find: 'if (isBegun) this.begunBefore.add(index)', replace: '', killedBy: endings },
  { title: 'what-if: an amended deadline is the first one', file: 'packages/projections/src/simulate/ledger.ts', find: 'this.deadlineAt[index] = deadlineAt ?? Number.NaN', replace: 'void deadlineAt', killedBy: ['test/what-if/endings.test.ts'] },
  { title: 'what-if: a new queue has the settings of the deleted one', file: 'packages/projections/src/what-if/recorder.ts', find: 'if (!this.isInPeriod) this.settings = settingsDefault\n        else this.leave', replace: 'if (this.isInPeriod) this.leave', killedBy: ['test/what-if/endings.test.ts'] },
  { title: 'simulated days: tenants are compared by the claims of agents that work for another', file: 'packages/projections/src/simulate/fairness.ts', find: 'only === undefined || only === this.tenants[tenant]?.tenant', replace: "only !== ''", killedBy: endings, named: 'claim for one tenant' },
  { title: 'what-if: a tenant named constructor has a function for its weight', file: 'packages/projections/src/simulate/ledger.ts', find: 'undefined : byTenant.get(tenant)) ?? others', replace: 'undefined : weights[tenant]) ?? others', killedBy: ['test/what-if/what-if.test.ts'], named: 'what every object has' },
]
