/**
 * The transport over undici, which is loaded with the first request: the server and the help of the command line have the client, and mostly send
 * nothing. What this saves is in ADR 73.
 */
import { closedError } from './abort.js'
import type { Transport, TransportOptions } from './transport.js'

export const lazyTransport = (options: TransportOptions): Transport => {
  let loaded: Transport | undefined
  let loading: Promise<Transport> | undefined
  let isStopped = false
  let isClosed = false

  const load = async (): Promise<Transport> => {
    const { createTransport } = await import('./transport.js')
    loaded = createTransport(options)
    if (isStopped) loaded.stopWaiting()
    return loaded
  }
  const get = (): Promise<Transport> => (isClosed && loading === undefined ? Promise.reject(closedError()) : (loading ??= load()))
  return {
    request: (asked) => (loaded === undefined ? get().then((transport) => transport.request(asked)) : loaded.request(asked)),
    stream: (asked) => (loaded === undefined ? get().then((transport) => transport.stream(asked)) : loaded.stream(asked)),
    stopWaiting: () => {
      isStopped = true
      loaded?.stopWaiting()
    },
    close: async () => {
      isClosed = true
      await (await loading)?.close()
    },
  }
}
