/** Each invariant's check is shown able to fail: a system with one defect must not get past it. */
import { poisonConsumedStates } from '@daybook/core'
import * as fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { checkers, type Invariant } from './checkers.js'
import { defects } from './defects.js'
import { runs } from './settings.js'
import { scenarios } from './steps.js'
import { World } from './world.js'

beforeAll(() => poisonConsumedStates(true))

for (const { breaks, by, system } of defects) {
  test(`${breaks} has teeth: it catches ${by}`, () => {
    const found = fc.check(
      fc.property(scenarios(120), (scenario) => {
        new World(checkers[breaks], system()).run(scenario)
      }),
      { ...runs(250), endOnFailure: true },
    )
    expect(found.failed).toBe(true)
    if (process.env['FC_VERBOSE'] !== undefined) console.log(breaks, by, found.numRuns, String(found.errorInstance).slice(0, 120))
  })
}

test('every invariant has a defect that it must catch', () => {
  const bitten = new Set(defects.map(({ breaks }) => breaks))
  expect((Object.keys(checkers) as Array<Invariant>).filter((id) => !bitten.has(id))).toEqual([])
})
