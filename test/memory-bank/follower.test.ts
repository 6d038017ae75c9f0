/** What a follower of a log says that it has passed on when it is stopped. */
import type { Committed, Daybook } from '@daybook/adapters/engine'
import { type MemoryBank, startMemory } from '@daybook/adapters/memory-bank'
import { memoryCheckpoints } from '@daybook/projections'
import { Subject } from 'rxjs'
import { expect, test } from 'vitest'

const bank: MemoryBank = { name: 'none', identity: async () => undefined, mayHaveMemories: () => false, remember: async () => undefined, recall: async () => [], interrupt: () => undefined, close: async () => undefined }
const completed = { type: 'Completed', at: 0, data: { task: 't', agent: 'ann', token: 1 }, content: '{"discoveries":[{"type":"x"}]}' }

test.each([[9_000, 'few enough to be known', -1], [11_000, 'too many to be known', -1]])('EV-05: of %d events that came while it read the log, %s, a stop loses none', async (count, _, place) => {
  const committed = new Subject<Committed>()
  const checkpoints = memoryCheckpoints()
  let read: () => void = () => undefined
  const reading = new Promise<void>((resolve) => (read = resolve))
  let isAsked: () => void = () => undefined
  const asked = new Promise<void>((resolve) => (isAsked = resolve))
  const daybook = {
    queues: () => [{ name: 'q', committed }],
    log: {
      head: async () => -1,
      read: async function* () {
        isAsked()
        await reading
      },
    },
  } as unknown as Daybook
  const memory = startMemory({ daybook, bank, checkpoints: () => checkpoints, recallMs: 1_000, limit: 5 })
  await asked
  committed.next({ from: 0, events: Array.from({ length: count }, () => completed), isOwn: true } as unknown as Committed)
  const closed = memory.close()
  read()
  await closed
  expect((await checkpoints.load('memory'))?.revision ?? -1).toBe(place)
})
