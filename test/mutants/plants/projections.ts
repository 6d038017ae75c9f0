/** Projections, and the read models that they fill. */
import type { Plant } from '../plant.js'

const run = 'packages/projections/src/run-projection.ts'
const loggedEvent = 'packages/adapters/src/engine/log/logged-event.ts'

export const projectionPlants: ReadonlyArray<Plant> = [
  { title: 'projections: an event has no content', file: loggedEvent, find: 'return contentOfEvent(this.recorded)', replace: 'return undefined', killedBy: ['test/projections/live.test.ts'] },
  { title: 'projections: an event does not say who caused it', file: 'packages/adapters/src/engine/log/wire.ts', find: "...(typeof actor === 'string' ? { actor } : {}),", replace: '', killedBy: ['test/projections/live.test.ts'] },
  { title: 'projections: a checkpoint goes past an event that could not be read', file: run, find: 'if (revision === saved || hasUnread) return', replace: 'if (revision === saved) return', killedBy: ['test/projections/run.test.ts'] },
  { title: 'projections: a checkpoint beyond the end of the log is used', file: run, find: ' || checkpoint.revision > head', replace: '', killedBy: ['test/projections/run.test.ts'] },
]
