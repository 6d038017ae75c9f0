/** Two processes that are both busy with the same queue share it fairly. In real time, because this test is about speed. */
import type { QueueEngine } from '@daybook/adapters/engine'
import { openMemoryStore } from '@daybook/adapters/memory'
import type { EventStore } from '@daybook/adapters/store'
import { expect, test } from 'vitest'
import { caller, enqueue, logOf, ok, openQueue, sleep, until } from '../support/queue.js'

test('the faster of two busy engines does not starve the slower one', async () => {
  const inner = openMemoryStore({ isShared: true })
  const late: EventStore = { ...inner, append: (...args) => async () => sleep(2).then(inner.append(...args)) }
  const [quick, slow] = await Promise.all([inner, late].map((store) => openQueue({ store })))
  const done = { quick: 0, slow: 0 }
  let isOver = false
  const work = async (engine: QueueEngine, name: 'quick' | 'slow', index: number): Promise<void> => {
    while (!isOver) {
      const id = `${name} ${index} ${done[name]}`
      ok(await engine.submit(enqueue(id), caller))
      done[name]++
    }
  }
  const callers = (name: 'quick' | 'slow', engine: QueueEngine) => Array.from({ length: 8 }, (_, i) => work(engine, name, i))
  const running = [...callers('quick', quick!.engine), ...callers('slow', slow!.engine)]
  // With the expected revision alone, it would do none while the other does hundreds of thousands.
  await until(() => done.slow >= 100, 60_000)
  isOver = true
  await Promise.all(running)
  expect((await logOf(inner)).length).toBe(done.quick + done.slow)
})
