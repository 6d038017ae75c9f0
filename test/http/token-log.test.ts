/** Tokens while their events cannot be read. */
import { openTokens, tokenStream } from '@daybook/adapters/auth'
import { openMemoryStore } from '@daybook/adapters/memory'
import { type EventStore, StoreError } from '@daybook/adapters/store'
import { isRight } from 'fp-ts/lib/Either.js'
import { throwError } from 'rxjs'
import { expect, test } from 'vitest'
import { useVirtualTime } from '../support/virtual-time.js'

useVirtualTime()

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

test('while the events of tokens cannot be followed, the log of the server does not fill with that; afterwards they are followed again', async () => {
  const inner = openMemoryStore()
  let problem: string | undefined = 'not now'
  let tries = 0
  const store: EventStore = {
    ...inner,
    subscribe: (stream, from) => {
      tries++
      return problem === undefined ? inner.subscribe(stream, from) : throwError(() => new StoreError('unavailable', problem ?? ''))
    },
  }
  const warnings: Array<string> = []
  const { tokens } = openTokens({ dir: 'memory', adminToken: 'x'.repeat(40), store, warn: (message) => void warnings.push(message) })
  await sleep(600_000)
  expect(warnings).toEqual([`the events of tokens cannot be read: not now`])
  expect(tokens.problem()).toMatchObject({ reason: 'the events of tokens cannot be read: not now' })
  problem = 'gone'
  await sleep(600_000)
  expect(warnings.slice(1)).toEqual(['the events of tokens cannot be read: gone'])
  expect(tries).toBeGreaterThan(20)
  problem = undefined
  await tokens.ready
  expect(tokens.problem()).toBeUndefined()
  const other = openTokens({ dir: 'memory', adminToken: 'y'.repeat(40), store: inner }).tokens
  const made = await other.create({ name: 'new', roles: ['worker'] }, { actor: 'admin' })
  if (!isRight(made)) throw new Error(tokenStream)
  await sleep(10)
  expect(isRight(tokens.check(made.right.token))).toBe(true)
  await Promise.all([tokens.close(), other.close()])
})
