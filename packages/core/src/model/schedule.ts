/** What callers say about a schedule (INV-27), and why a run was left out. */
import * as t from 'io-ts'
import { integer } from './scalars.js'

/** A name of a schedule. It is part of the ids of its tasks, and of paths. */
export const ScheduleName = t.refinement(t.string, (name) => /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name), 'schedule name: 1–64 of a–z A–Z 0–9 . _ -')
/** Seconds between two runs. */
export const Interval = integer(1, 10 * 365 * 86_400)

/** Which runs that were due while no server was running are made up for: none, the last one, or all. */
export const MissedRuns = t.keyof({ skip: null, once: null, all: null }, 'missed')
export type MissedRuns = t.TypeOf<typeof MissedRuns>
/** What happens to a run that is due while the previous one is unfinished: it starts, is left out, or waits (at most one). */
export const OverlappingRuns = t.keyof({ allow: null, skip: null, queue: null }, 'overlap')
export type OverlappingRuns = t.TypeOf<typeof OverlappingRuns>

/** Why no task was enqueued. `missed`: the server was down. `overlap`: the previous run was unfinished. `duplicate`: the id was taken. */
export const SkipReason = t.keyof({ missed: null, overlap: null, duplicate: null }, 'skipped')
export type SkipReason = t.TypeOf<typeof SkipReason>
