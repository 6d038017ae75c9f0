/** One transport over several servers of one store. Requests go to one server as long as it answers, and then to the next. */
import { DaybookError } from '../errors.js'
import type { HttpAnswer, Transport } from './transport.js'

/**
 * A request goes to the next server at once if this one has certainly not done it: it could not be reached, or it refuses everything (`unavailable`),
 * as a stopping server does. If the answer is lost, the caller decides whether to repeat the request; later requests go to the next server.
 */
export const failover = (servers: ReadonlyArray<Transport>): Transport => {
  let current = 0
  const at = (index: number): Transport => servers[index % servers.length] as Transport
  /** If several requests fail at once, only the first switches the server. */
  const leave = (index: number): void => {
    if (current === index) current = index + 1
  }

  const request: Transport['request'] = async (asked) => {
    const first = current
    for (let tried = 1; ; tried++) {
      const index = first + tried - 1
      const isLast = tried === servers.length
      try {
        const answer = await at(index).request(asked)
        if (!isUnavailable(answer)) return answer
        leave(index)
        if (isLast) return answer
      } catch (error) {
        if (!(error instanceof DaybookError) || error.code !== 'unreachable') throw error
        leave(index)
        if (isLast || !error.unsent) throw error
      }
    }
  }
  return {
    request,
    stream: async (asked) => {
      const first = current
      for (let tried = 1; ; tried++) {
        const index = first + tried - 1
        try {
          return await at(index).stream(asked)
        } catch (error) {
          if (!(error instanceof DaybookError) || error.code !== 'unreachable') throw error
          leave(index)
          // A stream only reads, and nothing of it has come yet.
          if (tried === servers.length) throw error
        }
      }
    },
    stopWaiting: () => servers.forEach((server) => server.stopWaiting()),
    close: async () => void (await Promise.all(servers.map((server) => server.close()))),
  }
}

/** These refusals mean that nothing was done, so another server may do it. `outcome-unknown` has the same status, but the request may have taken effect. */
const isUnavailable = ({ status, text }: HttpAnswer): boolean => status === 503 && /"code":"(?:unavailable|read-only|clock)"/.test(text)
