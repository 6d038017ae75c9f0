import { reportVariable } from '../mutants/reporter.js'

/**
 * The seed of tests that must find something, such as a planted defect: whether they find it must not depend on chance. Tests with the word "teeth"
 * in their titles, or in the title of their suite, draw their examples with it. So do all tests while a planted defect is looked for.
 */
export const fixedSeed = 1

/** Whether the tests run to find a planted defect. */
export const isToFind = process.env[reportVariable] !== undefined

/**
 * Every run of the tests draws other examples. `vitest.config.ts` chooses a seed for the run and prints it; each test starts from it. CI takes it
 * from the sources, so that the same code has one verdict. `RUN_SEED=17` runs everything with its examples. A failing test prints the seed that
 * repeats it: `SEED=17 npm test -- test/properties`.
 */
export const isReplay = process.env['SEED'] !== undefined
export const runSeed = isToFind ? fixedSeed : Number(process.env['SEED'] ?? process.env['RUN_SEED'] ?? fixedSeed)

/** `count` seeds, beginning with the run's. Only that one if a run is repeated. `SEEDS=1000` overrides `count`. */
export const seeds = (count: number): ReadonlyArray<number> => {
  const { SEEDS = isReplay ? 1 : count } = process.env
  return Array.from({ length: Number(SEEDS) }, (_, i) => runSeed + i)
}
