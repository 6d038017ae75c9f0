/**
 * How much clients have not read yet. An answer stays in memory until its client has read it or is gone, and some clients read slowly or never. So
 * streams of logs are limited in number, and other large answers in bytes.
 */
import type { FastifyReply } from 'fastify'
import type { HttpLimits } from './limits.js'
import { type Problem, problem, soonSeconds } from './problem.js'

/** Shorter answers are not counted: the operating system takes them even if the client does not read. */
const largeLength = 65_536
/** When to try again, in seconds. Streams of logs take longer than other answers. */
const streamSeconds = 5

export class UnreadAnswers {
  private streams = 0
  private bytes = 0

  constructor(private readonly limits: Pick<HttpLimits, 'streamsMax' | 'unreadBytesMax'>) {}

  /** Counts a stream until its connection has ended. Returns why it is refused. */
  addStream(reply: FastifyReply): Problem | undefined {
    const { streamsMax } = this.limits
    if (this.streams >= streamsMax) return problem('overloaded', `${streamsMax} streams of logs are open, which is the limit: try again later`, { retryAfterSeconds: streamSeconds })
    this.streams++
    whenClosed(reply, () => void this.streams--)
    return undefined
  }

  /** Counts a large text in the same way. The first one is never refused, however long it is. */
  addText(reply: FastifyReply, { length }: string): Problem | undefined {
    if (length <= largeLength) return undefined
    if (this.bytes > 0 && this.bytes + length > this.limits.unreadBytesMax) return tooMuch
    this.bytes += length
    whenClosed(reply, () => void (this.bytes -= length))
    return undefined
  }
}

const tooMuch = problem('overloaded', 'too many large answers wait for clients that do not read them: try again shortly, or ask for less with limit', { retryAfterSeconds: soonSeconds })

/** The client may be gone already. Then the event comes no more. */
export const whenClosed = ({ raw }: FastifyReply, closed: () => void): void => {
  if (raw.closed) closed()
  else raw.once('close', closed)
}
