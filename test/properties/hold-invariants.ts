/** The tests over one half of the random histories: one test for each invariant. */
import { poisonConsumedStates } from '@daybook/core'
import { beforeAll, expect, test, type TestContext } from 'vitest'
import { isReplay } from '../support/seed.js'
import type { Invariant } from './checkers.js'
import { allInvariants, type Findings, type Half, runHistories } from './histories.js'
import { missedOf } from './reach.js'

export const holdInvariants = (half: Half): void => {
  let findings: Findings

  beforeAll(() => {
    poisonConsumedStates(true)
    findings = runHistories(half)
    console.log(`${findings.histories} random histories from seed ${findings.firstSeed} on, all invariants over each`)
  }, 1_800_000)

  const nothingAbout = (isIt: (about: string) => boolean, { task }: TestContext): void => {
    const complaint = findings.complaints.find(({ about }) => isIt(about))
    if (complaint === undefined) return
    task.meta.seed = complaint.seed
    throw new Error(complaint.message)
  }
  const tested = new Set<Invariant>()
  const holds = (id: Invariant): ((context: TestContext) => void) => {
    tested.add(id)
    return (context) => nothingAbout((about) => about === id, context)
  }

  test('INV-1: at most one live lease per task', holds('INV-1'))
  test('INV-2: tokens grow, and only the newest completes, fails, releases or extends', holds('INV-2'))
  test('INV-3: attempts and retries are what the log says, and only a requeue reduces them', holds('INV-3'))
  test('INV-4: a task is dead-lettered exactly when its retries or attempts are used up or it is not retryable', holds('INV-4'))
  test('INV-5: no task is claimed before all its dependencies are completed', holds('INV-5'))
  test('INV-6: an open breaker admits nothing, a half-open one a single probe, and none is ever stuck', holds('INV-6'))
  test('INV-7: no two live or completed tasks share a key, and a duplicate appends nothing', holds('INV-7'))
  test('INV-8: a task that depends on a cancelled task is cancelled, too', holds('INV-8'))
  test('INV-9: every task is in exactly one status, and all counts add up', holds('INV-9'))
  test('INV-10: no more agents work than may, except on bumped tasks, and over capacity nothing else starts', holds('INV-10'))
  test('INV-11: a claim gets the tasks that a scan over all eligible tasks would choose', holds('INV-11'))
  test('INV-14: time never goes back along the stream', holds('INV-14'))
  test('INV-15: decide changes nothing, rollback restores everything, a loaded snapshot is the same state', holds('INV-15'))
  test('INV-16: a request is accepted as a whole or refused as a whole', holds('INV-16'))
  test('INV-17: completed, cancelled and discarded are final', holds('INV-17'))
  test('INV-18: an agent does not get back what it released', holds('INV-18'))
  test('INV-20: every view equals the result of a complete scan', holds('INV-20'))
  test('INV-21: a rate limit changes neither retries nor breakers, and its waits are kept', holds('INV-21'))
  test('INV-22: the state contains live and retained tasks and nothing else', holds('INV-22'))
  test('INV-23: live leases and starts stay within their limits, and tasks of an ordering key run one after the other', holds('INV-23'))
  test('INV-25: a decision depends on its time, and not on which tasks have left the state by then', holds('INV-25'))
  test('INV-27: each instant of a schedule is decided once, by its rules, and a run has exactly one task', holds('INV-27'))
  test('INV-29: what a completion found is spawned once, and chains that go in circles are halted', holds('INV-29'))

  test('INV-30: an amendment says what was and what is, is not repeated, and leaves alone what is held or finished', holds('INV-30'))
  test('INV-31: no attempt takes longer than maxRunSeconds of its task', holds('INV-31'))
  test('INV-32: a redrive keeps its rate and takes what it was started for, and snoozed dead letters come back at their time', holds('INV-32'))

  test('INV-33: a batch counts its tasks as they stand, is finished once, when nothing is left to wait for, and its callback is enqueued with that', holds('INV-33'))

  test('every checker runs over random histories', () => {
    expect([...tested].sort()).toEqual([...allInvariants].sort())
  })

  test('deciding and folding never throw', (context) => nothingAbout((about) => about === 'crash', context))

  // The counts of a single block are too small to judge.
  test.skipIf(isReplay)('the histories reach the situations that the invariants are about', () => {
    if (findings.complaints.length === 0) expect(missedOf(findings)).toEqual([])
  })
}
