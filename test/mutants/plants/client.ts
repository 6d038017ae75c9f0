/** The HTTP client. */
import type { Plant } from '../plant.js'

export const clientPlants: ReadonlyArray<Plant> = []
