/** The store in memory. */
import type { Plant } from '../plant.js'

export const memoryPlants: ReadonlyArray<Plant> = []
