/** Shows that every check can fail: for each defect, the checks that must notice it. */
import { describe, expect, test } from 'vitest'
import { openMemoryStore } from '@daybook/adapters/memory'
import type { EventStore } from '@daybook/adapters/store'
import { appendChecks } from './append-checks.js'
import type { Check } from './check.js'
import { defects } from './defects.js'
import { contextOf, sharedChecks } from './event-store-contract.js'
import { lifecycleChecks } from './lifecycle-checks.js'
import { modelCheck } from './model-check.js'
import { readChecks } from './read-checks.js'
import { sealChecks } from './seal-checks.js'
import { subscribeChecks } from './subscribe-checks.js'
import { waitAtMost } from './subscription-log.js'

const all: ReadonlyArray<Check> = [...appendChecks, ...sealChecks, ...readChecks, ...subscribeChecks, ...lifecycleChecks, modelCheck]

waitAtMost(5_000)

/** The defect, and words from the titles of the checks that must fail. */
const catches: ReadonlyArray<readonly [defect: keyof typeof defects, titles: ReadonlyArray<string>]> = [
  ['dropsAnEvent', ['byte for byte', 'any sequence', 'a long stream', 'each expecting the one before']],
  ['swapsTwoEvents', ['byte for byte', 'any sequence', 'a long stream', 'picking gives']],
  ['writesTwice', ['expecting 2 of a stream with 3 events: written', 'runs once a call']],
  ['ignoresExpectedRevision', ['exactly one is written', 'expecting 1 of a stream with 3 events: refused', 'any sequence']],
  ['refusesLateButWrites', ['expecting no_stream of a stream with 3 events: refused', 'what follows a conflict']],
  ['acknowledgesBeforeWriting', ['as soon as its append has been acknowledged', 'any sequence']],
  ['saysTheFirstRevision', ['expecting any of a stream with 3 events: written', 'any sequence']],
  ['beginsTooEarly', ['not begun before its task is run']],
  ['reencodesData', ['byte for byte']],
  ['cutsLongData', ['200 KiB']],
  ['mixesStreams', ['picking gives', 'while others append']],
  ['ignoresItsLimit', ['over the limit of bytes', 'more events than the limit']],
  ['sealsNothing', ['begins a chain']],
  ['beginsEveryChainAnew', ['sent together', 'continues the one that it is told']],
  ['forgetsAfterRefusals', ['sent together']],
  ['writesWithoutPredecessors', ['that was refused is not written', 'never sent is not']],
  ['readsAPageShort', ['a long stream']],
  ['readsPagesBackToFront', ['reading ten events with {}', 'any sequence']],
  ['forgetsTheLimit', ['{"limit":1}', '{"limit":0}', 'any sequence']],
  ['forgetsTheDirection', ['{"direction":"backwards"}', 'any sequence']],
  ['startsOneLate', ['{"from":4}', 'any sequence']],
  ['picksInLogOrder', ['picking gives', 'picking a thousand']],
  ['picksWithoutGaps', ['picking gives', 'any sequence']],
  ['sortsStreams', ['found by prefix']],
  ['ignoresCaseInPrefixes', ['found by prefix']],
  ['subscribesFromTheNext', ['starts in the middle', 'says so once']],
  ['subscribesWithGaps', ['says so once', 'while others append']],
  ['repeatsAtCatchUp', ['says so once', 'starts in the middle', 'while others append']],
  ['catchesUpTwice', ['says so once']],
  ['neverCatchesUp', ['says so once']],
  ['goesDeafAfterCatchUp', ['says so once', 'waits for its first event']],
  ['closesAtOnce', ['waits for the appends under way']],
  ['staysOpen', ['a closed store refuses everything', 'ends subscriptions']],
]

const broken = (defect: keyof typeof defects): EventStore => defects[defect](openMemoryStore())

describe('the contract notices a store that', () => {
  for (const [defect, titles] of catches) {
    for (const words of titles) {
      test.concurrent(`${defect}: "${words}"`, async () => {
        const found = all.filter(({ title }) => title.includes(words))
        expect(found, `one check with "${words}" in its title`).toHaveLength(1)
        await expect(found[0]!.run(contextOf(broken(defect)))).rejects.toThrow()
      })
    }
  }

  test('every defect is caught by something', () => {
    expect(catches.map(([defect]) => defect).sort()).toEqual(Object.keys(defects).sort())
  })

  test('every check of the contract is part of the suite', () => {
    expect([...sharedChecks, ...lifecycleChecks].map(({ title }) => title).sort()).toEqual(
      all.map(({ title }) => title).sort(),
    )
  })
})
