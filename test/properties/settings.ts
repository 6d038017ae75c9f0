import type { Parameters } from 'fast-check'

/** `RUNS=20` runs twenty times as many examples, and `RUNS=0.2` a fifth. */
const factor = Number(process.env['RUNS'] ?? 1)

export const runs = (standard: number): Parameters<unknown> => ({ numRuns: Math.ceil(standard * factor) })

/** Number of random histories for the invariants. CI takes more (`.ci/run`). */
export const historiesPerRun = Number(process.env['HISTORIES'] ?? 2_000)
