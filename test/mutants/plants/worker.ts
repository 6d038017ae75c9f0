/** The worker. */
import type { Plant } from '../plant.js'

export const workerPlants: ReadonlyArray<Plant> = []
