/** Which requests leave HTTP for another protocol. */
import { IncomingMessage } from 'node:http'

/**
 * A request that leaves HTTP only for a WebSocket. An `Upgrade` to what a server does not speak is to be ignored (RFC 9110, 7.8), and clients rely on it:
 * that of Java offers HTTP/2 (`h2c`) with its requests. But with a listener for `upgrade`, Node would take each of them out of HTTP.
 */
export class MayUpgrade extends IncomingMessage {
  /** What the parser found: the request has the headers for an upgrade. Not initialized here, because the constructor of Node sets it. */
  private declare asks: boolean | null

  get upgrade(): boolean | null {
    return this.asks === true && this.method !== 'CONNECT' && !/\bwebsocket\b/i.test(this.headers.upgrade ?? '') ? false : this.asks
  }

  set upgrade(asks: boolean | null) {
    this.asks = asks
  }
}
