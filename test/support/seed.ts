/**
 * Every run of the tests draws other examples. `vitest.config.ts` picks a seed for the run and prints it; each test starts from it.
 * A test that fails prints the seed to repeat it with: `SEED=17 npm test -- test/properties`.
 */
export const isReplay = process.env['SEED'] !== undefined
export const runSeed = Number(process.env['SEED'] ?? process.env['RUN_SEED'] ?? 1)

/** So many seeds, from the run's on; one alone when it is repeated. `SEEDS=1000` takes that many instead of the given number. */
export const seeds = (count: number): ReadonlyArray<number> => {
  const { SEEDS = isReplay ? 1 : count } = process.env
  return Array.from({ length: Number(SEEDS) }, (_, i) => runSeed + i)
}
