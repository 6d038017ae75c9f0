/**
 * The contract of the EventStore port (EV-02, EV-03). The point of this file: every adapter runs all
 * checks, and none can be left out unnoticed.
 */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, test } from 'vitest'
import type { EventStore } from '@daybook/adapters/store'
import { inTime } from '../support/in-time.js'
import { appendChecks } from './append-checks.js'
import type { Check, CheckContext } from './check.js'
import { lifecycleChecks } from './lifecycle-checks.js'
import { modelCheck } from './model-check.js'
import { readChecks } from './read-checks.js'
import { sealChecks } from './seal-checks.js'
import { subscribeChecks } from './subscribe-checks.js'

export interface ContractOptions {
  /** Number of runs of the property test. Default: 100. */
  readonly numRuns?: number
}

export const sharedChecks: ReadonlyArray<Check> = [...appendChecks, ...sealChecks, ...readChecks, ...subscribeChecks, modelCheck]

export const contextOf = (store: EventStore, { numRuns = 100 }: ContractOptions = {}): CheckContext => ({
  store,
  fresh: (name = 'stream') => `contract-${name}-${randomUUID()}`,
  numRuns,
})

/** Each call of `open` must give a new handle on a store. The suite closes it. */
export const eventStoreContract = (
  name: string,
  open: () => Promise<EventStore>,
  options: ContractOptions = {},
): void => {
  describe(`EventStore contract: ${name}`, () => {
    let store: EventStore
    beforeAll(async () => {
      store = await open()
    })
    afterAll(() => store.close())
    for (const { title, run } of sharedChecks) test(title, () => run(contextOf(store, options)))
  })

  describe(`EventStore contract, closing: ${name}`, () => {
    for (const { title, run } of lifecycleChecks) {
      test(title, async () => {
        const store = await open()
        try {
          await run(contextOf(store, options))
        } finally {
          await inTime('the end of the store', store.close())
        }
      })
    }
  })
}
