import type { Parameters } from 'fast-check'

/** The same sequences every time, unless FC_SEED says otherwise (`FC_SEED=random` for new ones); FC_RUNS widens. */
const seedText = process.env['FC_SEED'] ?? '20260104'
const factor = Number(process.env['FC_RUNS'] ?? '0')

export const runs = (standard: number): Parameters<unknown> => ({
  numRuns: factor > 0 ? factor : standard,
  ...(seedText === 'random' ? {} : { seed: Number(seedText) }),
})
export const seedOf = (): number => 1
