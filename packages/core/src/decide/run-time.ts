/** How long one attempt of a task may take (`maxRunSeconds`). */
import { toInstant } from '../model/scalars.js'
import type { Lease, TaskRecord } from '../records/records.js'

export const runMs = (maxRunSeconds: number): number => Math.ceil(maxRunSeconds * 1_000)

/** When the attempt ends at the latest, whatever its heartbeats; infinity if it has no limit. */
export const runEndsAt = ({ extras: { maxRunSeconds } }: TaskRecord, { claimedAt }: Lease): number =>
  maxRunSeconds === undefined ? Number.POSITIVE_INFINITY : toInstant(claimedAt + runMs(maxRunSeconds))
