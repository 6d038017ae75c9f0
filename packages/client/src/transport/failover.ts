/** One transport over several servers of one store. Requests go to one server as long as it answers, and then to the next. */
import { DaybookError } from '../errors.js'
import type { HttpAnswer, HttpStream, Transport } from './transport.js'

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

  /** `mayRepeat`: whether another server may be asked after this failure to get an answer. */
  const askEach = async <A>(ask: (server: Transport) => Promise<A>, isRefused: (answer: A) => boolean, mayRepeat: (error: DaybookError) => boolean): Promise<A> => {
    const first = current
    for (let tried = 1; ; tried++) {
      const index = first + tried - 1
      const isLast = tried === servers.length
      try {
        const answer = await ask(at(index))
        if (!isRefused(answer)) return answer
        leave(index)
        if (isLast) return answer
      } catch (error) {
        if (!(error instanceof DaybookError) || error.code !== 'unreachable') throw error
        leave(index)
        if (isLast || !mayRepeat(error)) throw error
      }
    }
  }
  return {
    request: (asked) => askEach((server) => server.request(asked), isUnavailable, ({ unsent }) => unsent),
    stream: async (asked) => {
      const found = await askEach(
        async (server) => refusalIn(await server.stream(asked)),
        ({ refusal }) => refusal !== undefined && isUnavailable(refusal),
        // A stream only reads, and nothing of it has come yet.
        () => true,
      )
      return found.stream
    },
    stopWaiting: () => servers.forEach((server) => server.stopWaiting()),
    close: async () => void (await Promise.all(servers.map((server) => server.close()))),
  }
}

/** These refusals mean that nothing was done, so another server may do it. `outcome-unknown` has the same status, but the request may have taken effect. */
const isUnavailable = ({ status, text }: Pick<HttpAnswer, 'status' | 'text'>): boolean => status === 503 && /"code":"(?:unavailable|read-only|clock)"/.test(text)

/** The answer, and its text if it may be a refusal. The text can be read only once, so the answer keeps it. */
const refusalIn = async (stream: HttpStream): Promise<{ readonly stream: HttpStream; readonly refusal?: Pick<HttpAnswer, 'status' | 'text'> }> => {
  const { statusCode: status, body } = stream
  if (status !== 503) return { stream }
  const text = await body.text().catch(() => '')
  return { stream: { ...stream, body: Object.assign(body, { text: () => Promise.resolve(text) }) }, refusal: { status, text } }
}
