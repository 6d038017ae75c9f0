import type { Parameters } from 'fast-check'

/** `RUNS=20` takes twenty times as many. */
const factor = Number(process.env['RUNS'] ?? 1)

export const runs = (standard: number): Parameters<unknown> => ({ numRuns: standard * factor })

/** Random histories that all invariants are held against: a moment's worth of them, and in CI as many as a minute allows (`.ci/run`). */
export const historiesPerRun = Number(process.env['HISTORIES'] ?? 2_000)
