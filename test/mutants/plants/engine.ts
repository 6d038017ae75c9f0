/** The loop of a queue:  batches, recovery, snapshots in small steps, other processes. */
import type { Plant } from '../plant.js'

export const enginePlants: ReadonlyArray<Plant> = [
  {
    title: 'tasks of one request get one id',
    file: 'packages/adapters/src/engine/ids.ts',
    find: "stem + place.toString(16).padStart(4, '0')",
    replace: "stem + '0000'",
    killedBy: ['test/http/tasks.test.ts'],
    named: 'Daybook-Request-Id',
  },
]
