/** Snapshots:  their pages, their files. */
import type { Plant } from '../plant.js'

export const snapshotPlants: ReadonlyArray<Plant> = []
