/** The loop of a queue:  batches, recovery, snapshots in small steps, other processes. */
import type { Plant } from '../plant.js'

const engine = 'packages/adapters/src/engine/'
const waitingClaims = ['test/engine/waiting-claims.test.ts']

export const enginePlants: ReadonlyArray<Plant> = [
  {
    title: "engine: a newcomer's claim overtakes those that wait",
    file: `${engine}decider.ts`,
    find: 'if (waiting.isOfferDue) return false',
    replace: '',
    killedBy: waitingClaims,
  },
  {
    title: 'engine: a claim says that it has waited for as long as its append took',
    file: `${engine}claim-item.ts`,
    find: 'claim.waitedMs = this.grantedAt - this.askedAt',
    replace: 'claim.waitedMs = performance.now() - this.askedAt',
    killedBy: waitingClaims,
  },
  {
    title: 'engine: what other processes append is listened to from one event too late',
    file: `${engine}follower.ts`,
    find: 'subscribe(revision() + 1)',
    replace: 'subscribe(revision() + 2)',
    killedBy: ['test/engine/others.test.ts'],
  },
  {
    title: 'tasks of one request get one id',
    file: 'packages/adapters/src/engine/ids.ts',
    find: "stem + place.toString(16).padStart(4, '0')",
    replace: "stem + '0000'",
    killedBy: ['test/http/tasks.test.ts'],
    named: 'Daybook-Request-Id',
  },
]
