/** Searches memories (TQM-MEM-001). */
import * as E from 'fp-ts/lib/Either.js'
import { defined, ifDefined } from '../../defined.js'
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
        limit: ifDefined(limit, Number) ?? limitDefault,
        ...defined({ description: q, ticketId }),
      })
      return E.right({ status: 200, text: JSON.stringify({ memories: found }) })
    } catch (error) {
      return E.left(problem('unavailable', `the memory cannot be reached: ${errorText(error)}`, { retryAfterSeconds: 1 }))
    }
  }
