/** A proxy that can drop traffic: connections are dead without either side noticing. */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

export interface Proxy {
  readonly port: number
  /** Drops everything on the open connections; new ones work. */
  readonly swallow: () => void
  /** Closes all connections; new ones are forwarded only after the delay. */
  readonly cut: (delayMs: number) => void
  /** Number of connections so far. */
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
