/** The store in one SQLite file. */
import type { Plant } from '../plant.js'

export const sqlitePlants: ReadonlyArray<Plant> = []
