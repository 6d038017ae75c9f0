/** Very many deadlines at the same instant: no decision looks at tasks that should be in another lane by then. */
import { nextMisplaced, type QueueState } from '@daybook/core'
import { expect, test } from 'vitest'
import { caller, claim, enqueue, ok, openQueue, setClock, task } from '../support/queue.js'

/** More tasks than are moved before one batch. */
const tasks = 10_000
const windowMs = 900_000
const hour = 3_600_000

/** Whether a decision at this time would look at tasks one by one. */
const isBehind = (state: QueueState, at: number): boolean => (nextMisplaced(state) ?? Number.POSITIVE_INFINITY) <= at

test('INV-28: when many tasks become urgent or late at once, they are moved before anything is decided', async () => {
  let now = Date.UTC(2026, 0, 5, 9)
  const { engine } = await openQueue({ ...setClock(() => now) })
  const deadlineAt = now + hour
  for (let i = 0; i < tasks; i += 1_000) {
    ok(await engine.submit(enqueue(...Array.from({ length: 1_000 }, (_, k) => task(`t${i + k}`, { priority: 1 + ((i + k) % 3), ...((i + k) % 10 === 0 ? {} : { deadlineAt }) }))), caller))
  }
  for (const at of [deadlineAt - windowMs, deadlineAt]) {
    expect(ok(await engine.read(isBehind))).toBe(false)
    now = at
    // Some are submitted before the others are decided, so an append may be in flight.
    const asked = [engine.submit(enqueue(task(`first at ${at}`, { priority: 1 })), caller), engine.submit(enqueue(task(`second at ${at}`, { priority: 1 })), caller)]
    const behind = await Promise.all(Array.from({ length: 20 }, async (_, i) => {
      if (i % 2 === 0) return ok(await engine.read(isBehind))
      const [claimed] = ok(await engine.claim(claim(`agent ${i}`), caller))
      // Those with a deadline come first.
      return claimed === undefined || Number(claimed.task.slice(1)) % 10 === 0
    }))
    expect(behind).toEqual(Array.from({ length: 20 }, () => false))
    await Promise.all(asked)
  }
  await engine.close()
})
