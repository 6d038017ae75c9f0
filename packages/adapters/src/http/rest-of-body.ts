/** What a client still sends of a request that is refused already. */
import type { IncomingMessage } from 'node:http'

/** A client that sends nothing for so long has sent all that it will, in milliseconds. */
const silentMs = 1_000

/**
 * Reads what is left of a request, and throws it away. If the connection were closed with bytes on it that nobody has read, the operating system would
 * reset it, and the client would mostly not see the answer. After `msMax` milliseconds it resolves all the same: a client that sends for long may read
 * meanwhile, and would otherwise be told that its request took too long, and send it again.
 */
export const dropRest = (request: IncomingMessage, msMax: number): Promise<void> =>
  new Promise((resolve) => {
    if (request.complete || request.destroyed) return resolve()
    const done = (): void => {
      clearTimeout(silence)
      clearTimeout(late)
      request.off('data', heard).off('end', done).off('close', done)
      // What comes after this is thrown away as well.
      request.resume()
      resolve()
    }
    const silence = setTimeout(done, silentMs)
    const late = setTimeout(done, msMax)
    const heard = (): void => void silence.refresh()
    request.on('data', heard).once('end', done).once('close', done)
    request.resume()
  })
