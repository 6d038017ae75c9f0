/**
 * Every invariant over random sequences of commands, with a random clock and agents that stop reporting. This file takes the first half
 * of the sequences, and those that once broke an invariant.
 */
import { test } from 'vitest'
import { holdInvariants } from './hold-invariants.js'
import { regressions, replay } from './histories.js'

holdInvariants('first')

test.each(regressions())('a history that once broke an invariant no longer does: %s', (_, scenario) => {
  replay(scenario)
})
