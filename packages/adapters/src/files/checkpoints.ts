/** Checkpoints of projections, one small file each. They may be deleted at any time: the events are then folded again. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Checkpoint, CheckpointStore } from '@daybook/projections'
import { writeWhole } from '../disk/atomic-write.js'
import { makeFolder } from '../disk/make-folder.js'
import { syncPath } from '../disk/sync-path.js'

/** The checkpoints of one queue, in its own folder, which is created with the first checkpoint. */
export const fileCheckpoints = (folder: string): CheckpointStore => {
  const fileOf = (projection: string): string => join(folder, `${projection.replace(/[^a-z0-9-]/gi, '_')}.json`)
  return {
    load: async (projection) => {
      try {
        const read: unknown = JSON.parse(await readFile(fileOf(projection), 'utf8'))
        return isCheckpoint(read) && read.projection === projection ? read : undefined
      } catch {
        // Missing, unreadable or damaged: it makes no difference, because it is a cache.
        return undefined
      }
    },
    save: async (checkpoint) => {
      makeFolder(folder)
      await writeWhole(fileOf(checkpoint.projection), [JSON.stringify(checkpoint)])
      await syncPath(folder)
    },
  }
}

const isCheckpoint = (value: unknown): value is Checkpoint => {
  if (typeof value !== 'object' || value === null) return false
  const { projection, version, revision, state } = value as Partial<Checkpoint>
  return typeof projection === 'string' && Number.isInteger(version) && Number.isInteger(revision) && typeof state === 'string'
}
