/** Shows that the check of each invariant can fail: it must catch a system with one defect. */
import { poisonConsumedStates } from '@daybook/core'
import * as fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { type Invariant, together } from './checkers.js'
import { defects } from './defects.js'
import { aboutOf, allInvariants } from './histories.js'
import { runs } from './settings.js'
import { scenarios } from './steps.js'
import { World } from './world.js'

beforeAll(() => poisonConsumedStates(true))

/** Whether the invariant's own checker fails. Failures of others do not count. */
const isCaught = (id: Invariant, run: () => void): boolean => {
  try {
    run()
    return false
  } catch (error) {
    return error instanceof Error && aboutOf(error.message) === id
  }
}

for (const { breaks, by, system } of defects) {
  test(`${breaks} has teeth: it catches ${by}`, () => {
    const found = fc.check(
      fc.property(scenarios(120), (scenario) => !isCaught(breaks, () => new World(() => together([breaks]), system()).run(scenario))),
      { ...runs(4_000), endOnFailure: true },
    )
    expect(found.failed).toBe(true)
  })
}

test('every invariant has a defect that it must catch', () => {
  const bitten = new Set(defects.map(({ breaks }) => breaks))
  expect(allInvariants.filter((id) => !bitten.has(id))).toEqual([])
})
