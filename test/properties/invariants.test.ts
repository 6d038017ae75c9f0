/** Every invariant over random sequences of commands, with a random clock and agents that fall silent. */
import { poisonConsumedStates } from '@daybook/core'
import * as fc from 'fast-check'
import { beforeAll, test } from 'vitest'
import { checkers, type Invariant } from './checkers.js'
import { runs } from './settings.js'
import { scenarios } from './steps.js'
import { World } from './world.js'

beforeAll(() => poisonConsumedStates(true))

const titles: Record<Invariant, string> = {
  'INV-1': 'at most one live lease per task',
  'INV-2': 'tokens grow, and only the newest completes, fails, releases or extends',
  'INV-3': 'attempts and retries are what the log says, and shrink by a requeue alone',
  'INV-4': 'a task is dead-lettered exactly when its retries or attempts are used up or it is not retryable',
  'INV-5': 'no task is claimed before all its dependencies are completed',
  'INV-6': 'an open breaker admits nothing, a half-open one a single probe, and none is ever stuck',
  'INV-7': 'no two live or completed tasks share a key, and a duplicate makes no event',
  'INV-8': 'what depends on a cancelled task is cancelled with it',
  'INV-9': 'every task is in exactly one status, and all counts add up',
  'INV-11': 'a claim gets what a scan over all eligible tasks picks',
  'INV-14': 'time never runs backward along the stream',
  'INV-15': 'decide changes nothing, rollback restores everything, a loaded snapshot is the same state',
  'INV-16': 'a request is taken in as a whole or refused as a whole',
  'INV-17': 'completed, cancelled and discarded are final',
  'INV-18': 'an agent does not get back what it released',
  'INV-20': 'every view is what a scan from scratch shows',
  'INV-22': 'the state holds live and retained tasks and nothing else',
}

for (const id of Object.keys(checkers) as Array<Invariant>) {
  test(`${id}: ${titles[id]}`, () => {
    fc.assert(
      fc.property(scenarios(120), (scenario) => {
        new World(checkers[id]).run(scenario)
      }),
      runs(250),
    )
  })
}
