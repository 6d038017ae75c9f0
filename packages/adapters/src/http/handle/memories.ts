/** Searches memories (TQM-MEM-001). */
import * as E from 'fp-ts/lib/Either.js'
import { errorText } from '../../error-text.js'
import type { MemoryService } from '../../memory-bank/index.js'
import { problem } from '../problem.js'
import type { MemoriesQuery } from '../query.js'
import type { Handled, QueueCall } from '../routes/route.js'

const limitDefault = 20

export const memories =
  (memory: MemoryService | undefined) =>
  async ({ queue, query }: QueueCall<unknown, MemoriesQuery>): Promise<Handled> => {
    // With memory off, the answer is that of an empty memory.
    if (memory === undefined) return E.right({ status: 200, text: '{"memories":[]}' })
    const { q, ticketId, limit } = query
    try {
      const found = await memory.search(queue.name, {
        limit: limit === undefined ? limitDefault : Number(limit),
        ...(q === undefined ? {} : { description: q }),
        ...(ticketId === undefined ? {} : { ticketId }),
      })
      return E.right({ status: 200, text: JSON.stringify({ memories: found }) })
    } catch (error) {
      return E.left(problem('unavailable', `the memory cannot be reached: ${errorText(error)}`, { retryAfterSeconds: 1 }))
    }
  }
