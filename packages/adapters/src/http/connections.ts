/**
 * The connections of a server. Those on which nothing moves because of the client are cut: they would keep memory, and places among the streams. And a
 * server that stops need not wait for clients that do not read their answers, send no more of their request, or keep a connection for a later request.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** How often connections without a request are closed at the end, in milliseconds. */
const lookMs = 100

export class Connections {
  /** With HTTPS, also the connections below TLS. */
  private readonly open = new Set<Socket>()
  /** Requests that have no complete answer yet. */
  private readonly requests = new WeakMap<Socket, IncomingMessage>()

  constructor(private readonly server: Server) {
    const opened = (socket: Socket): void => {
      this.open.add(socket)
      socket.once('close', () => this.open.delete(socket))
    }
    server.on('connection', opened)
    server.on('secureConnection', opened)
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const { socket } = request
      this.requests.set(socket, request)
      response.once('close', () => {
        if (this.requests.get(socket) === request) this.requests.delete(socket)
      })
    })
    // Without a listener, Node would also cut a connection whose answer is not ready yet: that of a waiting claim, or of a verification of a long log.
    server.on('timeout', (socket: Socket) => {
      const request = this.requests.get(socket)
      if (request?.complete !== true || socket.writableLength > 0) socket.destroy()
    })
  }

  /**
   * Closes each connection whose answer is sent. Those on which nothing moves because of the client are cut after `stalledMs` milliseconds instead of the
   * usual time, and all after `graceMs` milliseconds. Returns a function that ends this.
   */
  end(stalledMs: number, graceMs: number): () => void {
    for (const socket of this.open) socket.setTimeout(stalledMs)
    const look = setInterval(() => this.server.closeIdleConnections(), lookMs)
    // Node's `closeAllConnections` would leave out connections on which TLS has not begun.
    const cut = setTimeout(() => this.open.forEach((socket) => socket.destroy()), graceMs)
    return () => {
      clearInterval(look)
      clearTimeout(cut)
    }
  }
}
