/** A network in between that can swallow what is sent: connections that are dead without either side being told. */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

export interface Proxy {
  readonly port: number
  /** On the connections that are open now nothing comes through any more; new ones work. */
  readonly swallow: () => void
  /** Cuts all connections; new ones come through only after so long. */
  readonly cut: (delayMs: number) => void
  /** Connections that were made so far. */
  readonly connections: () => number
  readonly close: () => void
}

export const startProxy = async (target: number): Promise<Proxy> => {
  const open = new Set<Socket>()
  let connections = 0
  let delayMs = 0
  const server = createServer((near) => {
    connections += 1
    const far = connect(target, '127.0.0.1')
    for (const socket of [near, far]) {
      open.add(socket)
      socket.on('error', () => undefined)
      socket.once('close', () => open.delete(socket))
    }
    setTimeout(() => {
      near.pipe(far)
      far.pipe(near)
    }, delayMs)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    swallow: () => {
      for (const socket of open) {
        socket.unpipe()
        socket.resume()
      }
    },
    cut: (ms) => {
      delayMs = ms
      for (const socket of open) socket.destroy()
    },
    connections: () => connections,
    close: () => {
      server.close()
      for (const socket of open) socket.destroy()
    },
  }
}
