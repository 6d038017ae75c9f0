/**
 * The connections of a server, so that it can stop soon. Otherwise it would wait for clients that do not read their answers, send no more of their
 * request, or keep a connection for a later request.
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
  }

  /**
   * Closes each connection whose answer is sent. Cuts those on which nothing moves for `stalledMs` milliseconds because of the client (twice as long if
   * the operating system took a part of the answer before), and after `graceMs` milliseconds all. Returns a function that ends this.
   */
  end(stalledMs: number, graceMs: number): () => void {
    // With a listener, Node cuts no connection by itself: one on which nothing moves may belong to a command that is still at work.
    this.server.on('timeout', (socket: Socket) => {
      const request = this.requests.get(socket)
      if (request?.complete !== true || socket.writableLength > 0) socket.destroy()
    })
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
