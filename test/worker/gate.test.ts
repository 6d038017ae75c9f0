import { expect, test } from 'vitest'
import { Gate } from '../../packages/client/src/worker/gate.js'
import { useVirtualTime } from '../support/virtual-time.js'

useVirtualTime()

test('whoever has waited long enough at a gate leaves nothing behind', async () => {
  const gate = new Gate()
  const passing = gate.passWithin(50)
  expect(gate.isWaitedAt).toBe(true)
  await passing
  expect(gate.isWaitedAt).toBe(false)
})
