/** What a client still sends of a request that is refused already. */
import type { IncomingMessage } from 'node:http'

/** A client that sends nothing for so long has sent all that it will, in milliseconds. */
const silentMs = 1_000

/**
 * Reads what is left of a request, and throws it away. If the connection were closed with bytes on it that nobody has read, the operating system would
 * reset it, and the client would mostly not see the answer. How long a request may take to arrive is limited as always.
 */
export const dropRest = (request: IncomingMessage): Promise<void> =>
  new Promise((resolve) => {
    if (request.complete || request.destroyed) return resolve()
    const silence = setTimeout(resolve, silentMs)
    request.on('data', () => silence.refresh())
    request.once('close', () => {
      clearTimeout(silence)
      resolve()
    })
    request.once('end', () => {
      clearTimeout(silence)
      resolve()
    })
    request.resume()
  })
