/** What a follower of a log says that it has passed on when it is stopped. */
import type { Committed, Daybook } from '@daybook/adapters/engine'
import { type MemoryBank, startMemory } from '@daybook/adapters/memory-bank'
import { memoryCheckpoints } from '@daybook/projections'
import { Subject } from 'rxjs'
import { expect, test } from 'vitest'

const bank: MemoryBank = { name: 'none', identity: async () => undefined, mayHaveMemories: () => false, remember: async () => undefined, recall: async () => [], interrupt: () => undefined, close: async () => undefined }
const completed = { type: 'Completed', at: 0, data: { task: 't', agent: 'ann', token: 1 }, content: '{"discoveries":[{"type":"x"}]}' }

/** The second are more than a follower keeps in mind: it reads them from the log later. */
test.each([9_000, 11_000])('TQM-MEM-001: a follower that is stopped while it reads the log has not taken the %d events that came meanwhile', async (count) => {
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
      read: () => ({
        [Symbol.asyncIterator]: () => ({
          next: async () => {
            isAsked()
            await reading
            return { done: true, value: undefined }
          },
        }),
      }),
    },
  } as unknown as Daybook
  const memory = startMemory({ daybook, bank, checkpoints: () => checkpoints, recallMs: 1_000, limit: 5 })
  await asked
  committed.next({ from: 0, events: Array.from({ length: count }, () => completed), isOwn: true } as unknown as Committed)
  const closed = memory.close()
  read()
  await closed
  expect(await checkpoints.load('memory')).toBeUndefined()
})
