/** The store in EventStoreDB. */
import type { Plant } from '../plant.js'

export const eventStoreDbPlants: ReadonlyArray<Plant> = []
