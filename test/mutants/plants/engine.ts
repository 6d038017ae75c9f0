/** The loop of a queue:  batches, recovery, snapshots in small steps, other processes. */
import type { Plant } from '../plant.js'

export const enginePlants: ReadonlyArray<Plant> = []
